"""``iotide report``: one page on finished traces or a running job."""
