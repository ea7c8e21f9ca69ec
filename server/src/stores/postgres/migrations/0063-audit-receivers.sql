-- Receivers of the audit, and how much each of them has.
CREATE TABLE audit_receivers (
  -- The address of a webhook, or the name of the OTLP receiver.
  receiver_id text COLLATE "C" PRIMARY KEY,
  -- The newest entry that it took, with the 32 bytes of its hash. An audit without that entry was cut or changed.
  sent_through bigint NOT NULL DEFAULT 0,
  sent_hash bytea,
  -- The number of the hold: a node whose hold has passed to another records nothing.
  holds bigint NOT NULL DEFAULT 0,
  held_until timestamptz NOT NULL DEFAULT now(),
  next_at timestamptz NOT NULL DEFAULT now(),
  failures integer NOT NULL DEFAULT 0,
  problem text
);
