"""Colors, figures and images, shared by the views."""
