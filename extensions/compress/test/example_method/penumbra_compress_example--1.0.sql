CREATE FUNCTION rle_handler(internal) RETURNS internal LANGUAGE C STRICT AS 'MODULE_PATHNAME';
CREATE FUNCTION forgetful_handler(internal) RETURNS internal LANGUAGE C STRICT AS 'MODULE_PATHNAME';
CREATE FUNCTION future_handler(internal) RETURNS internal LANGUAGE C STRICT AS 'MODULE_PATHNAME';
SELECT create_compression_method('rle', 'rle_handler');
SELECT create_compression_method('forgetful', 'forgetful_handler', 4000);
