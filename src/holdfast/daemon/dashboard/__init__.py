"""The dashboard: pages for a person, written on the server, with one stylesheet and one small script.

A page gets rows that went through the office's redactor and makes HTML of them. What is asked for and done is
the API's and the engine's matter; nothing here decides or stores.
"""
