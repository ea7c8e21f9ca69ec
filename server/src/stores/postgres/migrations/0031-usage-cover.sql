-- What keys have spent and asked for is added up from the index alone: with ten thousand keys a month has hundreds of thousands of
-- rows. Names sort byte by byte, as in `keys`: an index in another order could not be used beside it.
DROP INDEX usage_days_by_key;
CREATE INDEX usage_days_of_key ON usage_days (key_id COLLATE "C", day) INCLUDE (amount_nano, unknown_nano, requests, tokens, posts);
