"""SONiC's configuration of a switch, config_db.json: read into the keys of `rack`, and written from them.

`entries` is the file: tables of entries of text. `keys` has what SONiC writes inside of names, `records` what the
entries mean, `config` all of a file, `port` what one port is made of, `taken` what an experiment takes of it, and
`written` the way back.
"""
