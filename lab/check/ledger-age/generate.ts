/** Writes the entries of the formula in sets, straight into partitions of the real table, and their rollups as nodes would leave them. */
import { Client } from 'pg'
import {
  CELLS,
  cellOf,
  DAY_MS,
  daySums,
  deploymentOf,
  HOUR_MS,
  IMAGE_MODELS,
  keyIdOf,
  KEYS,
  modelOf,
  MODELS,
  NANO_PER_IMAGE,
  NANO_PER_TOKEN,
  projectOf,
  PROJECTS,
  RULES,
  SAVED_NANO_PER_TOKEN,
  SUMS,
  UPSTREAMS,
  userOf,
  type Age,
  type DaySums,
} from './formula.ts'

/** Writer of all entries: a node that ended long ago. */
const NODE = '00000000-0000-7000-8000-00000000a6e0'
/** Rows of rollups per statement. */
const PAGE_ROWS = 20_000
const { resolved, open, unpriced, cached, labelled, otherModel, firstUpstream } = RULES

const SHAPES = `
CREATE TEMPORARY TABLE shapes AS
SELECT key, other, upstream, 'project-' || key % ${PROJECTS} AS project,
  'project-' || key % ${PROJECTS} || '/key-' || key AS key_id, 'user-' || key AS end_user, model,
  model || '/' || (ARRAY['${UPSTREAMS.join("', '")}'])[1 + upstream] AS deployment,
  place BETWEEN ${IMAGE_MODELS.first} AND ${IMAGE_MODELS.last} AS is_image
FROM generate_series(0, ${KEYS - 1}) AS key, generate_series(0, 1) AS other, generate_series(0, 1) AS upstream,
  LATERAL (SELECT (key + 3 * other) % ${MODELS.length} AS place) AS placed,
  LATERAL (SELECT (ARRAY['${MODELS.join("', '")}'])[1 + place] AS model) AS named;
ANALYZE shapes`

/** $1: day, $2: rows per day, $3: Unix milliseconds of its midnight. Each level names what the next one uses. */
const entriesInto = (table: string): string => `
INSERT INTO ${table} (
  request_id, attempt, kind, call_id, node_id, project, key_id, model, deployment, usage, tokens, images, amount_nano, written_at,
  requests, hits, saved_nano, unknown_nano, end_user
)
SELECT (moment || to_hex(tail))::uuid, 0, kind, (moment || to_hex(tail # 1))::uuid, '${NODE}', project, key_id, model, deployment,
  CASE kind WHEN 'post' THEN 'upstream' ELSE 'unknown' END,
  CASE WHEN kind = 'post' AND NOT is_image THEN size END, CASE WHEN kind = 'post' AND is_image THEN 1 ELSE 0 END,
  CASE WHEN is_resolution THEN nano / 2 - nano WHEN is_unpriced THEN NULL ELSE nano END, written_at,
  CASE WHEN NOT is_resolution THEN 1 END, CASE WHEN is_cached THEN 1 + number % ${RULES.hits} END,
  CASE WHEN is_cached THEN size * ${SAVED_NANO_PER_TOKEN} END,
  CASE WHEN is_resolution THEN -nano WHEN kind = 'unknown' THEN nano END, CASE WHEN is_labelled THEN end_user END
FROM (
  SELECT *, CASE WHEN is_image THEN ${NANO_PER_IMAGE} ELSE size * ${NANO_PER_TOKEN} END AS nano,
    CASE WHEN is_plain OR is_resolution THEN 'post' ELSE 'unknown' END AS kind,
    is_plain AND number % ${unpriced.every} = ${unpriced.at} AS is_unpriced,
    is_plain AND number % ${cached.every} = ${cached.at} AS is_cached,
    is_plain AND number % ${labelled.every} = ${labelled.at} AS is_labelled
  FROM (
    SELECT is_resolution, number, number % ${KEYS} AS key, (number % ${otherModel.every} = ${otherModel.at})::integer AS other,
      (number % ${firstUpstream.every} <> ${firstUpstream.at})::integer AS upstream, 1 + number % ${RULES.sizes} AS size,
      about % ${resolved.every} <> ${resolved.unknown} AND about % ${open.every} <> ${open.at} AS is_plain,
      to_timestamp(0) + (midnight + ms + 1000) * interval '1 millisecond' AS written_at,
      lpad(to_hex((midnight + ms) << 16 | 28672 | (about & 4095)), 16, '0') AS moment,
      hashint8extended(number, 0) & 4611686018427387903 | -9223372036854775808 AS tail
    FROM (
      SELECT *, $1::bigint * $2::bigint + about AS number, about * ${DAY_MS} / $2::bigint AS ms, $3::bigint AS midnight
      FROM (
        SELECT index % ${resolved.every} = ${resolved.post} AS is_resolution,
          index - (index % ${resolved.every} = ${resolved.post})::integer AS about
        FROM generate_series(0, $2::bigint - 1) AS index
      ) AS indexed OFFSET 0
    ) AS numbered OFFSET 0
  ) AS ruled JOIN shapes USING (key, other, upstream) OFFSET 0
) AS drawn`

async function prepare(client: Client): Promise<void> {
  await client.query(`SET jit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '512MB'; ${SHAPES}`)
  await client.query(
    `INSERT INTO nodes (node_id, host, version, started_at, seen_at, ended_at)
     VALUES ($1, 'generator', 'lab', to_timestamp(0), to_timestamp(0), to_timestamp(0)) ON CONFLICT DO NOTHING`,
    [NODE],
  )
  await client.query(
    `INSERT INTO projects (project, version) SELECT 'project-' || number, 1
     FROM generate_series(0, ${PROJECTS - 1}) AS number ON CONFLICT DO NOTHING`,
  )
}

export function dayText(dayMs: number): string {
  return new Date(dayMs).toISOString().slice(0, 10)
}

/** One day, on a connection of its own. The product has made its partition, which is replaced by a full one. */
export async function generateDay(databaseUrl: string, age: Age, day: number): Promise<void> {
  const client = new Client(databaseUrl)
  await client.connect()
  try {
    await prepare(client)
    await fill(client, age, day)
  } finally {
    await client.end()
  }
}

/**
 * In one transaction: PostgreSQL with `wal_level = minimal` writes a table of the same transaction without WAL. The table gets its
 * primary key once it is full, and becomes a partition: with the columns, checks, indexes and triggers of the real one.
 */
async function fill(client: Client, age: Age, day: number): Promise<void> {
  const midnightMs = age.firstDayMs + day * DAY_MS
  const table = `usage_events_${dayText(midnightMs).replaceAll('-', '_')}`
  const { rows } = await client.query<{ parent: string; bound: string }>(
    `SELECT inhparent::regclass AS parent, pg_get_expr(relpartbound, pg_class.oid) AS bound
     FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhrelid = to_regclass($1)`,
    [table],
  )
  const [made] = rows
  if (made === undefined) throw new Error(`the server has made no partition ${table}`)
  await client.query('BEGIN')
  await client.query(
    `CREATE TABLE ${table}_full (LIKE usage_events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`,
  )
  await client.query(entriesInto(`${table}_full`), [day, age.rowsPerDay, midnightMs])
  await client.query(`ALTER TABLE ${table}_full ADD PRIMARY KEY (request_id, attempt, kind)`)
  await client.query(`DROP TABLE ${table}`)
  await client.query(`ALTER TABLE ${table}_full RENAME TO ${table}`)
  await client.query(`ALTER TABLE ${made.parent} ATTACH PARTITION ${table} ${made.bound}`)
  await writeRollups(client, midnightMs, daySums(age, day))
  await client.query('COMMIT')
  await client.query(`ANALYZE ${table}`)
}

/** By the formula, not by adding up the entries: a wrong entry differs from its hour, and sealing has to say so. */
async function writeRollups(client: Client, midnightMs: number, { sums }: DaySums): Promise<void> {
  const hours = new Map<string, unknown[]>()
  const labels = new Map<string, unknown[]>()
  for (let cell = 0; cell < CELLS; cell += 1) {
    const own = sums.subarray(cell * SUMS.length, (cell + 1) * SUMS.length)
    if (own.every((value) => value === 0)) continue
    const { hour, key, model, upstream, shard, isLabelled } = cellOf(cell)
    const at = new Date(midnightMs + hour * HOUR_MS)
    const names = [at, projectOf(key), keyIdOf(key), modelOf(model), deploymentOf(model, upstream), shard]
    addRow(hours, names, own)
    if (isLabelled) addRow(labels, [...names, 'user', userOf(key)], own)
  }
  const names = 'hour, project, key_id, model, deployment, shard'
  await insertRows(client, 'usage_hours', names, [...hours.values()])
  if (labels.size === 0) return
  await insertRows(client, 'usage_label_hours', `${names}, label, value`, [...labels.values()])
  await client.query(
    `INSERT INTO usage_labels (day, project, label, value)
     SELECT DISTINCT (hour AT TIME ZONE 'UTC')::date, project, label, named FROM usage_label_hours,
       LATERAL (VALUES (''), (value)) AS names (named)
     WHERE hour >= $1 AND hour < $2 ON CONFLICT DO NOTHING`,
    [new Date(midnightMs), new Date(midnightMs + DAY_MS)],
  )
}

/** Entries with and without labels are one row of the hours. */
function addRow(rows: Map<string, unknown[]>, names: readonly unknown[], own: Float64Array): void {
  const identity = names.join('\n')
  const row = rows.get(identity)
  if (row === undefined) rows.set(identity, [...names, ...own])
  else own.forEach((value, sum) => (row[names.length + sum] = (row[names.length + sum] as number) + value))
}

async function insertRows(client: Client, table: string, names: string, rows: unknown[][]): Promise<void> {
  const columns = [...names.split(', '), ...SUMS]
  const typeOf = (column: string): string =>
    column === 'hour'
      ? 'timestamptz'
      : column === 'shard'
        ? 'smallint'
        : SUMS.includes(column as never)
          ? 'bigint'
          : 'text'
  const arrays = columns.map((column, index) => `$${index + 1}::${typeOf(column)}[]`).join(', ')
  const statement = `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM unnest(${arrays})`
  for (let from = 0; from < rows.length; from += PAGE_ROWS) {
    const page = rows.slice(from, from + PAGE_ROWS)
    await client.query(
      statement,
      columns.map((_, index) => page.map((row) => row[index])),
    )
  }
}
