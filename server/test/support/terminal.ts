/** A shell that stays open, as a person has it: variables and folder of one command hold for the next. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const END = '\u{1e}'
/** Longest block of the documentation on a busy machine: it installs, builds and starts. */
const BLOCK_MS = 300_000
/** Time of a program to end after Ctrl-C. */
const END_MS = 20_000

export interface TerminalOptions {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** For the commands, each a file, so that they have no part of the shell's input. */
  readonly scratch: string
}

export interface Ran {
  readonly output: string
  /** Of the last command that failed; 0 if none did. Undefined: it still runs, as it should. */
  readonly status: number | undefined
}

let count = 0

export class Terminal {
  readonly #child: ChildProcess
  readonly #scratch: string
  #output = ''
  #isBusy = false

  constructor({ folder, env, scratch }: TerminalOptions) {
    this.#scratch = scratch
    // Of its own session: Ctrl-C at the tests does not reach it, and each of its commands is a group that can be ended.
    this.#child = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env, detached: true })
    // Also if the tests are stopped from outside.
    process.once('exit', () => this.#signal('SIGKILL'))
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    this.#child.stdin?.write(`exec 2>&1; set -m -o pipefail; trap 'status=$?' ERR; trap : INT\n`)
  }

  /** A program runs in the foreground. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  get folder(): string {
    return readlinkSync(`/proc/${this.#child.pid}/cwd`)
  }

  /** Types commands. With `until`, they go on running once they printed it. */
  async run(commands: string, { until }: { readonly until?: RegExp } = {}): Promise<Ran> {
    count += 1
    const file = join(this.#scratch, `${count}.sh`)
    writeFileSync(file, commands)
    this.#output = ''
    this.#child.stdin?.write(`status=0\n. ${file} < /dev/null\nprintf '${END}%s${END}' "$status"\n`)
    const endMs = performance.now() + BLOCK_MS
    while (performance.now() < endMs && this.#isOpen) {
      const ended = this.#ended()
      if (ended !== undefined) return ended
      if (until?.test(this.#output) === true) {
        this.#isBusy = true
        return { output: this.#output, status: undefined }
      }
      await wait(20)
    }
    const reason = this.#isOpen ? `no end after ${BLOCK_MS / 1000} s` : 'the shell has ended'
    return { output: `${this.#output}\n(${reason})`, status: 1 }
  }

  get #isOpen(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  #ended(): Ran | undefined {
    const [output = '', status] = this.#output.split(END)
    return status === undefined ? undefined : { output, status: Number(status) }
  }

  /** Ctrl-C. */
  async interrupt(): Promise<void> {
    this.#signal('SIGINT')
    const endMs = performance.now() + END_MS
    while (this.#ended() === undefined && performance.now() < endMs) await wait(20)
    this.#isBusy = false
  }

  /** Ends everything that was started in it. */
  async close(): Promise<void> {
    this.#signal('SIGINT')
    const endMs = performance.now() + END_MS
    while (this.#jobs().length > 0 && performance.now() < endMs) await wait(20)
    this.#signal('SIGKILL')
    if (!this.#isOpen) return
    const closed = once(this.#child, 'close')
    this.#child.stdin?.end()
    this.#child.kill('SIGKILL')
    await closed
  }

  #jobs(): readonly number[] {
    try {
      const { pid } = this.#child
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
    } catch {
      // The shell has ended, with all that it started.
      return []
    }
  }

  #signal(name: NodeJS.Signals): void {
    for (const job of this.#jobs()) {
      try {
        process.kill(-job, name)
      } catch {
        // It ended in between.
      }
    }
  }
}
