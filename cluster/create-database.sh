#!/bin/sh
# Patroni runs this once, when it has made the first PostgreSQL, with the superuser's address.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$1" <<'SQL'
\getenv password STORE_PASSWORD
CREATE ROLE store LOGIN PASSWORD :'password';
CREATE DATABASE store OWNER store;
SQL
