/* extensions/backtrace/sql/penumbra_backtrace--0.1.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION penumbra_backtrace" to load this file. \quit
