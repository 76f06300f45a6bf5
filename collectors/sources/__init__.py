"""The input formats that iotide reads, one module or folder each."""
