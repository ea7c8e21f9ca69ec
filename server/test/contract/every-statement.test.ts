import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { Client, type Connection, type Submittable } from 'pg'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { temporaryFolder, testPostgres } from '#test/support/servers.ts'
import { sqlLiterals, type Example, type SqlLiteral } from '#test/support/statements.ts'

/** Literals with SQL of this version, rounded down: a scan that finds fewer is broken. */
const KNOWN_LITERALS = 400

const EVERY_FILTER = `{
  fromMs: 0, toMs: 1, projects: ['p'], key: ['p/k'], model: ['m'], deployment: 'd', kind: ['edit'], source: 'callers',
  outcome: ['failed'], status: 500, fault: ['f'], slower_ms: 1, dearerNanoUsd: 1n, tries: 1, client: 'c', user: 'u', tags: {},
}`
const CONDITIONS = {
  conditions: ['new Conditions()'],
  indexed: [`conditions.indexed(${EVERY_FILTER})`],
  where: [`[indexed, conditions.other(${EVERY_FILTER})]`],
}
const COLUMN = { column: [`'project'`, `'key_id'`] }
const BACKUP_TABLE = {
  quoted: ['(name) => name'],
  table: [`{ name: 'projects', order: 'project' }`],
  columns: [`'project::text'`],
}

const PARTITIONS = {
  name: [`'usage_hours_rest'`],
  labels: [`'usage_label_hours_2000_01'`],
  day: [`'usage_hours_2000_01_01'`],
  table: [`'usage_hours'`],
  like: [`'LIKE usage_hours'`],
  idRange: [`() => "FOR VALUES FROM ('2000-01-01') TO ('2000-02-01')"`],
  from: [`'2000-01-01'`],
  to: [`'2000-02-01'`],
  ...Object.fromEntries(['startMs', 'endMs', 'dayMs', 'DAY_MS'].map((name) => [name, ['0']])),
}

/** Of literals with local names. A statement that has neither an example nor a fixed text fails the test. */
const EXAMPLES: readonly Example[] = [
  { of: 'PREPARE ${', with: { name: [`'torana_probe'`] } },
  { of: 'EXECUTE ${', with: { statement: [`'torana_probe'`] } },
  {
    of: 'WITH fence AS MATERIALIZED',
    with: Object.fromEntries(
      ['isUsual', 'isFenced', 'isLabelled', 'isBatched'].map((flag) => [flag, ['true', 'false']]),
    ),
  },
  { of: 'SELECT hour AS at, sum(amount_nano)::bigint AS nano', with: COLUMN },
  { of: 'SELECT day, amount_nano FROM usage_days', with: COLUMN },
  { of: 'SELECT key_id, model, sum(amount_nano) AS nano', with: COLUMN },
  { of: 'SELECT asked.id, day::text AS day', with: { owner: [`'key'`, `'project'`] } },
  { of: 'SELECT asked.id, (hour', with: { owner: [`'key'`, `'project'`] } },
  {
    of: 'AS sorted_by',
    with: {
      ...CONDITIONS,
      by: ['undefined', ...[`'-duration'`, `'-cost'`].map((sort) => `SORTED_BY[${sort}]`)],
      order: ['"request_id DESC"'],
      limit: ['1'],
    },
  },
  { of: 'DESC OFFSET', with: CONDITIONS },
  { of: 'SELECT width_bucket(', with: { ...CONDITIONS, thresholds: ['conditions.of([])'] } },
  { of: 'WITH recent AS MATERIALIZED', with: CONDITIONS },
  {
    of: 'WHERE ctid IN (SELECT ctid',
    with: {
      table: [`'deployment_slots'`, `'deployment_events'`, `'traffic_slots'`],
      condition: [`'at < $1'`],
    },
  },
  {
    of: 'CASE WHEN place <= ${limit} THEN name',
    with: { by: ['"model"', '"deployment"', '"project"', '"key"'], source: ['BY_DAY'], limit: ['"$9"'] },
  },
  {
    of: `SELECT 'overflow', NULL`,
    with: {
      source: ['BY_DAY'],
      labelled: ['`SELECT *, $9 AS value FROM (${source}) AS rows WHERE $9 = ANY ($10::text[])`'],
    },
  },
  { of: 'SELECT ${column} AS name', with: { ...COLUMN, text: ['BY_DAY'] } },
  { of: 'SELECT ${SUMS} FROM (${text}) AS rows`', with: { text: ['BY_DAY'] } },
  { of: 'SELECT at, sum(nano)::bigint AS nano', with: { text: ['BY_DAY'] } },
  { of: 'SELECT ${LISTED} FROM files', with: { sign: [`'<'`, `'>'`], direction: [`'ASC'`] } },
  {
    of: 'SELECT key_id, ${RANK[order]} AS rank',
    with: {
      order: ['"id"', '"-used"', '"ends"'],
      state: ['undefined', ...['active', 'ending', 'tidy', 'revoked'].map((is) => `{ is: '${is}' }`)],
    },
  },
  ...[
    '${name} PARTITION OF ${table} ${idRange',
    '${name} (${like}) PARTITION BY',
    '${day} PARTITION OF ${name}',
    '${table} ATTACH PARTITION ${name} ${idRange',
    '${name} (LIKE ${table} INCLUDING DEFAULTS)',
    'LOCK TABLE ${table}_rest',
    'DELETE FROM ${table}_rest WHERE',
    "${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}')",
    'DROP TABLE ${name}, ${labels}',
  ].map((of) => ({ of, with: PARTITIONS })),
  ...['LOCK TABLE ONLY ${table} IN ACCESS', 'DROP TABLE ${name}`', 'DROP TABLE ${month}'].map((of) => ({
    of,
    with: Object.fromEntries(['table', 'name', 'month'].map((is) => [is, [`'usage_events_rest'`]])),
  })),
  { of: 'DROP TABLE IF EXISTS ${name}', with: { name: [`'requests_2000_01_01'`] } },
  { of: 'SELECT json_build_array(', with: BACKUP_TABLE },
  { of: 'DECLARE backup_rows', with: { rows: [`'SELECT project FROM projects'`] } },
  { of: 'DELETE FROM ${quoted(name)}', with: { name: [`'projects'`] } },
  { of: 'SELECT 1 FROM ${quoted(name)}', with: { name: [`'projects'`] } },
  {
    of: '${quoted(name)} PARTITION OF ${quoted(of)}',
    with: {
      name: [`'requests_2000_01_01'`],
      of: [`'requests'`],
      from: [`'00000000-0000-0000-0000-000000000000'`],
      to: [`'00000000-0000-0000-0000-000000000001'`],
      split: [`''`],
    },
  },
  {
    of: 'INSERT INTO ${quoted(table.name)}',
    with: {
      ...BACKUP_TABLE,
      names: [`'project'`],
      values: [`'value_0::text'`],
      given: [`'$1::text[]'`],
      aliases: [`'value_0'`],
    },
  },
]

/** Parses and analyses a statement without running it: names of tables, columns and functions, and types of values. */
class Preparation implements Submittable {
  readonly done = Promise.withResolvers<void>()
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  submit(connection: Connection): void {
    connection.parse({ name: '', text: this.#text, types: [] }, true)
    connection.sync()
  }

  handleError(error: Error): void {
    this.done.reject(error)
  }

  handleReadyForQuery(): void {
    this.done.resolve()
  }
}

let client: Client
before(async () => {
  const { url } = await testPostgres()
  const database = openPostgres(url)
  await migrate(database)
  await database.close()
  client = new Client(url)
  await client.connect()
})
after(() => client.end())

/** A prepared statement is one statement: a text of several is prepared one by one. */
const SEVERAL = /multiple commands/

async function problemOf(text: string): Promise<string | undefined> {
  try {
    await client.query(new Preparation(text)).done.promise
    return undefined
  } catch (error) {
    const { message } = error as Error
    if (!SEVERAL.test(message)) return message
    for (const one of text.split(';')) {
      const problem = await problemOf(one)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

/** Each literal that makes no text, or one that PostgreSQL refuses. A part of a statement is proven by the statement. */
async function problemsIn(literals: readonly SqlLiteral[]): Promise<readonly string[]> {
  const problems = new Map<string, string | undefined>()
  for (const text of new Set(literals.flatMap(({ texts }) => [...texts])))
    problems.set(text, await problemOf(text))
  const good = [...problems].filter(([, problem]) => problem === undefined).map(([text]) => text)
  return literals.flatMap(({ place, texts, problem }) => {
    if (texts.size === 0) return [`${place}: no example: ${String(problem)}`]
    return [...texts]
      .filter((text) => problems.get(text) !== undefined && !good.some((whole) => whole.includes(text)))
      .map((text) => `${place}: ${problems.get(text)}`)
  })
}

test('PostgreSQL can prepare every statement of the product on its migrated tables', async () => {
  const literals = await sqlLiterals(EXAMPLES)
  assert.deepEqual(await problemsIn(literals), [])
  assert.ok(literals.length >= KNOWN_LITERALS, `found only ${literals.length}`)
  const unused = EXAMPLES.filter(({ of }) => !literals.some(({ source }) => source.includes(of)))
  assert.deepEqual(unused, [], 'examples of statements that are gone')
})

const PLANTED: Readonly<Record<string, string>> = {
  'good/queries.ts': `
    const COLUMNS = 'project, deleted_at'
    export const LIST = \`SELECT \${COLUMNS} FROM projects\`
    export const find = (sql: any) => sql.query(\`\${LIST} WHERE project = $1\`)`,
  'constant.ts': 'export const WRONG = `\\nSELECT wrong_constant FROM projects`',
  'inline.ts': `export const find = (sql: any) => sql.query('delete from projects where wrong_inline = $1')`,
  'composed.ts': `
    const WRONG = 'wrong_part = $1'
    export const find = (sql: any) => sql.query(\`UPDATE projects SET project = $1 WHERE \${WRONG}\`)`,
  'added.ts': `export const find = (sql: any) => sql.query('SELECT project ' + 'FROM wrong_sum')`,
  'local.ts': 'export const of = (column: string) => `SELECT ${column} FROM projects`',
}

test('a statement with a wrong name, or with a local name and no example, is found wherever it is written', async () => {
  const folder = temporaryFolder('statements')
  for (const [file, text] of Object.entries(PLANTED)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const problems = await problemsIn(await sqlLiterals([], folder))
  assert.deepEqual(problems.toSorted(), [
    'added.ts:1: relation "wrong_sum" does not exist',
    'composed.ts:3: column "wrong_part" does not exist',
    'constant.ts:1: column "wrong_constant" does not exist',
    'inline.ts:1: column "wrong_inline" does not exist',
    'local.ts:1: no example: ReferenceError: column is not defined',
  ])
})
