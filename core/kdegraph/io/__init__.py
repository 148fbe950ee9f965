"""Tables, arrays and pictures in files."""
