/** The table of all verdicts: clients across, rows down. */
import type { Client } from './clients.ts'
import type { Verdict } from './judge.ts'
import type { Row } from './rows.ts'

export interface Group {
  readonly title: string
  readonly rows: readonly Row[]
}

export class Matrix {
  readonly #groups: readonly Group[]
  readonly #clients: readonly Client[]
  /** By row and client. */
  readonly #cells = new Map<string, Verdict>()
  readonly #failures: string[] = []

  constructor(groups: readonly Group[], clients: readonly Client[]) {
    this.#groups = groups
    this.#clients = clients
  }

  /** A cell is as good as the worst of its cases. */
  add(row: Row, client: Client, caseName: string, verdict: Verdict): void {
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
    const lines = ['# SDK matrix: embeddings', '', `${this.summary}. ${legend}`]
    for (const { title, rows } of this.#groups) {
      lines.push('', `## ${title}`, '')
      lines.push(`| | ${this.#clients.map(({ name }) => name).join(' | ')} |`)
      lines.push(`|---|${':-:|'.repeat(this.#clients.length)}`)
      for (const row of rows) lines.push(`| \`${row.name}\` | ${this.#marksOf(row).join(' | ')} |`)
    }
    return `${lines.join('\n')}\n${this.#failureList('\n## Failures\n\n')}`
  }

  #marksOf(row: Row): string[] {
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

const legend =
  '✓ is bit-equal at full width, within 1e-6 for truncated vectors, and for faults the right class, status, code and message; ≈ is within 1e-6 at full width.'

function rank({ result }: Verdict): number {
  return ['right', 'close', 'wrong'].indexOf(result)
}

function keyOf(row: Row, client: Client): string {
  return `${row.name} × ${client.name}`
}

function centred(text: string, width: number): string {
  const left = Math.floor((width - text.length) / 2)
  return text.padStart(text.length + Math.max(0, left)).padEnd(width)
}
