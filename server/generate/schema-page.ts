/** `docs/inside/schema.md`: the tables, columns and comments of the migrations, for readers. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS_FOLDER } from '#package/files.ts'

interface Column {
  readonly name: string
  readonly definition: string
  readonly note: string
}

interface Table {
  readonly name: string
  readonly note: string
  readonly columns: readonly Column[]
}

/** One file of migrations: its first comment, then tables. */
interface Domain {
  readonly title: string
  readonly note: string
  readonly tables: readonly Table[]
}

const HEAD = `# Schema

The tables of the database, from \`server/src/stores/postgres/migrations/\`. \`npm run generate\` writes this page. Indexes, triggers and functions are in the files.
`

export function schemaMarkdown(): string {
  const domains = readdirSync(MIGRATIONS_FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => parseDomain(name, readFileSync(join(MIGRATIONS_FOLDER, name), 'utf8')))
  return [HEAD, ...domains.map(writeDomain)].join('\n')
}

export function parseDomain(fileName: string, sql: string): Domain {
  const lines = sql.split('\n')
  const title = fileName
    .replace(/^\d+-/, '')
    .replace(/\.sql$/, '')
    .replaceAll('-', ' ')
  const tables: Table[] = []
  let comment: string[] = []
  let note: string | undefined
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const [, name] = /^CREATE (?:UNLOGGED )?TABLE (\w+) \($/.exec(line) ?? []
    if (line.startsWith('-- ')) comment.push(line.slice(3))
    // The first comment of the file stands apart from its first table.
    else if (line === '' && note === undefined) note = comment.splice(0).join(' ')
    else if (name === undefined) comment = []
    else {
      const end = lines.findIndex((other, index) => index > at && other.startsWith(')'))
      tables.push({ name, note: comment.join(' '), columns: parseColumns(lines.slice(at + 1, end)) })
      comment = []
      at = end
    }
  }
  return { title: title.charAt(0).toUpperCase() + title.slice(1), note: note ?? '', tables }
}

function parseColumns(lines: readonly string[]): readonly Column[] {
  const columns: Column[] = []
  let note: string[] = []
  for (const line of lines) {
    const [, comment] = /^ {0,2}-- (.*)$/.exec(line) ?? []
    const [, name, definition] = /^ {2}([a-z_\d]+) (.+?),?$/.exec(line) ?? []
    if (comment !== undefined) note.push(comment)
    else {
      if (name !== undefined && definition !== undefined)
        columns.push({ name, definition, note: note.join(' ') })
      note = []
    }
  }
  return columns
}

function writeDomain({ title, note, tables }: Domain): string {
  return [`## ${title}\n`, `${note}\n`, ...tables.map(writeTable)].join('\n')
}

function writeTable({ name, note, columns }: Table): string {
  const rows = columns.map(
    (column) => `| \`${column.name}\` | \`${inCell(column.definition)}\` | ${inCell(column.note)} |`,
  )
  return [
    `### ${name}\n`,
    ...(note === '' ? [] : [`${note}\n`]),
    '| column | type | |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|')
}
