"""PostgreSQL: connections to a database that is the user's own. The driver is an extra, loaded on first use.

`connection.py` is used by hubs too; it knows no table. The only package with PostgreSQL's dialect beside
`stores/hub`.
"""
