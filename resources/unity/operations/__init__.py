"""What each Unity capability does, on a workspace: the project as it is, with staged changes laid over it.

One module an operation. An operation reads and writes only through the workspace, raises its capability's
failure codes, and returns its outputs. Never touches the project itself: that is the transaction's business.
"""
