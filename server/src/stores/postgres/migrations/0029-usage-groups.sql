-- Days without their keys, made of the days: ten thousand keys are not added up for a question that names none of them.
CREATE TABLE usage_group_days (
  day date NOT NULL,
  project text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  posts bigint NOT NULL,
  unknowns bigint NOT NULL,
  tokens bigint NOT NULL,
  images bigint NOT NULL,
  amount_nano bigint NOT NULL,
  unpriced bigint NOT NULL,
  requests bigint NOT NULL,
  hits bigint NOT NULL,
  saved_nano bigint NOT NULL,
  unknown_nano bigint NOT NULL,
  PRIMARY KEY (day, project, model, deployment)
);
INSERT INTO usage_group_days
SELECT day, project, model, deployment, sum(posts), sum(unknowns), sum(tokens), sum(images), sum(amount_nano),
  sum(unpriced), sum(requests), sum(hits), sum(saved_nano), sum(unknown_nano)
FROM usage_days GROUP BY 1, 2, 3, 4;
