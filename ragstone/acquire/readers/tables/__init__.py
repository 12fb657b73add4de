"""Tables: files of rows, and the grids of cells that other readers find."""
