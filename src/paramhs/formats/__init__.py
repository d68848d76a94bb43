"""Files that users provide: scenarios and parameter spaces."""
