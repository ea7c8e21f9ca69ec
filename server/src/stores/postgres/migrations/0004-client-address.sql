-- Where a request came from. Null in rows of nodes that did not write it. Text, so that no address can make a row fail.
ALTER TABLE requests ADD COLUMN client_address text;
