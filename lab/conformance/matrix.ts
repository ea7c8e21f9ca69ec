/** The table of all verdicts: clients across, rows down. */
import type { Program } from './clients.ts'
import type { Verdict } from './verdict.ts'

interface Named {
  readonly name: string
}

export interface Group<Row extends Named = Named> {
  readonly title: string
  readonly rows: readonly Row[]
}

interface MatrixAbout {
  readonly title: string
  /** What the marks mean. */
  readonly legend: string
}

export class Matrix {
  readonly #about: MatrixAbout
  readonly #groups: readonly Group[]
  readonly #clients: readonly Program[]
  /** By row and client. */
  readonly #cells = new Map<string, Verdict>()
  readonly #failures: string[] = []

  /** Shows of the groups only these rows. */
  constructor(
    about: MatrixAbout,
    groups: readonly Group[],
    rows: readonly Named[],
    clients: readonly Program[],
  ) {
    this.#about = about
    this.#groups = groups
      .map(({ title, rows: all }) => ({ title, rows: all.filter((row) => rows.includes(row)) }))
      .filter((group) => group.rows.length > 0)
    this.#clients = clients
  }

  /** A cell is as good as the worst of its cases. */
  add(row: Named, client: Program, caseName: string, verdict: Verdict): void {
    const key = keyOf(row, client)
    const before = this.#cells.get(key)
    if (before === undefined || rank(verdict) > rank(before)) this.#cells.set(key, verdict)
    if (verdict.result === 'wrong') {
      this.#failures.push(
        `${client.name} × ${caseName}\n    expected ${verdict.expected}\n    got      ${verdict.got}`,
      )
    }
  }

  get failed(): number {
    return [...this.#cells.values()].filter(({ result }) => result === 'wrong').length
  }

  get summary(): string {
    return `${this.#cells.size - this.failed} passed, ${this.failed} failed`
  }

  /** For a terminal. */
  get text(): string {
    const first = Math.max(...this.#groups.flatMap(({ rows }) => rows.map(({ name }) => name.length)))
    const names = this.#clients.map(({ name }) => name)
    const line = (head: string, cells: readonly string[]): string =>
      [head.padEnd(first), ...cells.map((cell, column) => centred(cell, (names[column] as string).length))]
        .join('  ')
        .trimEnd()
    const lines: string[] = []
    for (const { title, rows } of this.#groups) {
      lines.push('', title, line('', names))
      for (const row of rows) lines.push(line(row.name, this.#marksOf(row)))
    }
    return `${lines.join('\n')}\n${this.#failureList('\n')}`
  }

  get markdown(): string {
    const lines = [`# SDK matrix: ${this.#about.title}`, '', `${this.summary}. ${this.#about.legend}`]
    for (const { title, rows } of this.#groups) {
      lines.push('', `## ${title}`, '')
      lines.push(`| | ${this.#clients.map(({ name }) => name).join(' | ')} |`)
      lines.push(`|---|${':-:|'.repeat(this.#clients.length)}`)
      for (const row of rows) lines.push(`| \`${row.name}\` | ${this.#marksOf(row).join(' | ')} |`)
    }
    return `${lines.join('\n')}\n${this.#failureList('\n## Failures\n\n')}`
  }

  #marksOf(row: Named): string[] {
    return this.#clients.map((client) => {
      const verdict = this.#cells.get(keyOf(row, client))
      return verdict === undefined ? ' ' : marks[verdict.result]
    })
  }

  #failureList(heading: string): string {
    return this.#failures.length === 0
      ? ''
      : `${heading}${this.#failures.map((text) => `✗ ${text}`).join('\n')}\n`
  }
}

const marks: Readonly<Record<Verdict['result'], string>> = { right: '✓', close: '≈', wrong: '✗' }

function rank({ result }: Verdict): number {
  return ['right', 'close', 'wrong'].indexOf(result)
}

function keyOf(row: Named, client: Program): string {
  return `${row.name} × ${client.name}`
}

function centred(text: string, width: number): string {
  const left = Math.floor((width - text.length) / 2)
  return text.padStart(text.length + Math.max(0, left)).padEnd(width)
}
