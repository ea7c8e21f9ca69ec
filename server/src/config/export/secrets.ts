/** Secrets in a document: each literal one is replaced by a variable, whose name the head of the export explains. */
import { isAlias, isMap, isScalar, isSeq, Scalar, type Document } from 'yaml'
import { holdsReference, referencesIn } from '../file/interpolate.ts'
import { reveal } from '../file/yaml.ts'

/** Names of variables for secrets, each with what it is for. */
export class Variables {
  readonly #taken: Set<string>
  readonly #uses = new Map<string, string>()

  /** `text` is the file whose own variables keep their names. */
  constructor(text: string) {
    this.#taken = new Set(referencesIn(text))
  }

  /** `OPENAI_API_KEY`, with a number where it is taken. */
  add(words: string, use: string): string {
    const name = words
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
    for (let number = 1; ; number += 1) {
      const free = number === 1 ? name : `${name}_${number}`
      if (this.#taken.has(free)) continue
      this.#taken.add(free)
      this.#uses.set(free, use)
      return free
    }
  }

  comment(): string {
    if (this.#uses.size === 0) return ''
    const lines = [...this.#uses].map(([name, use]) => `#   ${name}: ${use}`)
    return ['# Secrets are not in this file. Set these variables:', ...lines, '', ''].join('\n')
  }
}

/** Names of settings that hold secrets, or in which one is. */
const SECRET_NAME = /key|secret|token|password|credential|authorization|cookie/i

interface SecretPlace {
  /** `*` is any step, `**` any number of them, at least one. */
  readonly path: readonly string[]
  /** Of one of the last steps, which `**` stands for. Default: any. */
  readonly named?: RegExp
  /** Words of the variable, and its use, from the steps that were any. */
  readonly words: (...steps: readonly string[]) => readonly [name: string, use: string]
}

/** Every place of torana.yaml where a secret may be written. A section with new ones adds them here. */
const PLACES: readonly SecretPlace[] = [
  {
    path: ['upstreams', '*', 'apiKey'],
    words: (upstream) => [`${upstream}_API_KEY`, `the key of upstream ${upstream}`],
  },
  {
    path: ['upstreams', '*', 'tls', 'key'],
    words: (upstream) => [`${upstream}_TLS_KEY`, `the private key of upstream ${upstream}`],
  },
  // A header may have any name, and its value may be a secret under each.
  {
    path: ['upstreams', '*', 'headers', '*'],
    words: (upstream, name) => [`${upstream}_${name}`, `headers.${name} of upstream ${upstream}`],
  },
  {
    path: ['upstreams', '*', 'settings', '**'],
    named: SECRET_NAME,
    words: (upstream, ...names) => [
      `${upstream}_${names.join('_')}`,
      `settings.${names.join('.')} of upstream ${upstream}`,
    ],
  },
  ...(['url', 'secret', 'routingKey'] as const).map((field) => ({
    path: ['alerts', 'channels', '*', field],
    words: (channel = '') => [`ALERT_${channel}_${field}`, `${field} of alert channel ${channel}`] as const,
  })),
  {
    path: ['projects', '*', 'keys', '*', 'secret'],
    words: (project, index) => [`TORANA_KEY_${project}_${index}`, `key ${index} of project ${project}`],
  },
  {
    // An address of a receiver is often all that it takes to post there.
    path: ['projects', '*', 'webhooks', '*', 'url'],
    words: (project, index) => [
      `TORANA_WEBHOOK_${project}_${index}_URL`,
      `the address of webhook ${index} of project ${project}`,
    ],
  },
  {
    path: ['projects', '*', 'webhooks', '*', 'secret'],
    words: (project, index) => [
      `TORANA_WEBHOOK_${project}_${index}`,
      `webhook ${index} of project ${project}`,
    ],
  },
]

/** Whether there was one. */
export function replaceSecrets(document: Document, variables: Variables): boolean {
  let isChanged = false
  for (const { path, named, words } of PLACES)
    visit(document, document.contents, path, [], (scalar, steps) => {
      if (named !== undefined && !steps.slice(1).some((step) => named.test(step))) return
      const text = reveal(String(scalar.value))
      if (isWithoutSecret(text)) return
      // A default is a secret too: the variable alone remains of it.
      const [name] = WITH_DEFAULT.test(text) ? referencesIn(text) : []
      scalar.value = `\${${name ?? variables.add(...words(...steps))}}`
      scalar.type = Scalar.QUOTE_SINGLE
      isChanged = true
    })
  return isChanged
}

/** One variable with a default, and nothing else. */
const WITH_DEFAULT = /^\$\{[^}]*:-[^}]*\}$/
/** What may be written beside a variable: the scheme of a header. */
const SCHEME = /^(?:bearer|basic|token|key|apikey)?$/i

/** Whether all that is secret in it comes from variables. */
function isWithoutSecret(text: string): boolean {
  return SCHEME.test(text.replaceAll(/\$\{[^}:]+(?::\?[^}]*)?\}/g, '').trim()) && holdsReference(text)
}

function visit(
  document: Document,
  node: unknown,
  [step, ...rest]: readonly string[],
  steps: readonly string[],
  found: (scalar: Scalar, steps: readonly string[]) => void,
): void {
  const target = isAlias(node) ? node.resolve(document) : node
  if (step === undefined || (step === '**' && isScalar(target))) {
    if (isScalar(target)) found(target, steps)
  } else if (isMap(target))
    for (const { key, value } of target.items) {
      const name = reveal(String(isScalar(key) ? key.value : key))
      if (step === '**') visit(document, value, [step], [...steps, name], found)
      else if (step === '*') visit(document, value, rest, [...steps, name], found)
      else if (name === step) visit(document, value, rest, steps, found)
    }
  else if (isSeq(target))
    for (const [index, item] of target.items.entries())
      visit(document, item, step === '**' ? [step] : rest, [...steps, String(index + 1)], found)
}
