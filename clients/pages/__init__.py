"""Browser pages that are made from templates or follow a running job."""
