"""Files of word processors, presentations and spreadsheets, and the packages that hold them."""
