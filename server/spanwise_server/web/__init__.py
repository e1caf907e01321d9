"""HTTP: the page, the API that it reads from, and what tells how the server is.

Everything that computes is done by the reader process; here requests are read and answers passed
on. See docs/http-api.md.
"""
