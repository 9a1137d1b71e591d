"""The dashboard: pages for a person, rendered on the server, with one stylesheet and one small script.

A page gets rows that the executor has redacted and makes HTML of them. Nothing here decides or stores;
changes go through the API.
"""
