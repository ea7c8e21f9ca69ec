/** torana.yaml and what the store adds to it, as one file that means the same. The text of the file stays as it is where it can. */
import { Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { listModels, type Catalog } from '#core/catalog/catalog.ts'
import { lineDiff } from '#core/text/line-diff.ts'
import { isRecord } from '#core/text/record.ts'
import { hide, reveal } from '../file/yaml.ts'
import type { ConfigFile, ModelEntry } from '../schema/schema.ts'
import { entryNode, inOrder, variableNode } from './nodes.ts'

/** The configuration as it is loaded. */
export interface ExportedBase {
  /** Undefined: there is no file. */
  readonly text: string | undefined
  readonly file: Pick<ConfigFile, 'upstreams' | 'models'>
  /** With the objects of the store: those that it leaves out are not exported. */
  readonly catalog: Catalog
}

export interface StoreParts {
  readonly objects: readonly {
    readonly object: 'upstream' | 'model'
    readonly name: string
    readonly entry: Readonly<Record<string, unknown>>
  }[]
  readonly prices: readonly { readonly deployment: string; readonly form: unknown }[]
  /** Upstreams whose secret is in the store. */
  readonly credentials: readonly string[]
  readonly projects: readonly {
    readonly name: string
    readonly entry: Readonly<Record<string, unknown>>
    readonly keys: readonly Readonly<Record<string, unknown>>[]
  }[]
}

interface ExportedLine {
  readonly text: string
  /** null: it is not in torana.yaml. */
  readonly declaredAt: number | null
}

export function exportedLines(base: ExportedBase, parts: StoreParts): readonly ExportedLine[] {
  const lines = exportedText(base, parts).split('\n')
  if (base.text === undefined) return lines.map((text) => ({ text, declaredAt: null }))
  return lineDiff(base.text.split('\n'), lines)
    .filter(({ op }) => op !== '-')
    .map(({ op, before, after }) => ({
      text: lines[after] ?? '',
      declaredAt: op === ' ' ? before + 1 : null,
    }))
}

export function exportedText(base: ExportedBase, parts: StoreParts): string {
  const document =
    base.text === undefined
      ? new Document(builtIn(base.file))
      : parseDocument(hide(base.text), { uniqueKeys: false })
  const variables = new Variables()
  addUpstreams(document, base, parts, variables)
  addModels(document, base, parts)
  addPrices(document, base, parts)
  addProjects(document, parts, variables)
  const isUntouched =
    parts.objects.length + parts.prices.length + parts.credentials.length + parts.projects.length === 0
  if (isUntouched && base.text !== undefined) return base.text
  return `${variables.comment()}${reveal(document.toString(styleOf(base.text ?? '')))}`
}

/** Names of variables for secrets, each with what it is for. */
class Variables {
  readonly #uses = new Map<string, string>()

  /** `OPENAI_API_KEY`, with a number where it is taken. */
  add(words: string, use: string): string {
    const name = words
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
    for (let number = 1; ; number += 1) {
      const free = number === 1 ? name : `${name}_${number}`
      if (this.#uses.has(free)) continue
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

/** As the file is indented. */
function styleOf(text: string) {
  const indent = /^( +)[^ #-]/m.exec(text)?.[1]?.length ?? 2
  return {
    lineWidth: 0,
    indent: Math.min(Math.max(indent, 2), 8),
    indentSeq: !/^( *)[^\s#-][^\n]*:\n\1- /m.test(text),
  }
}

/** What a node without a file serves. */
function builtIn({ upstreams, models }: ExportedBase['file']) {
  return {
    upstreams: Object.fromEntries(
      Object.entries(upstreams ?? {}).map(([name, { apiKey, ...entry }]) => [
        name,
        apiKey === undefined ? entry : { ...entry, apiKey: '${OPENAI_API_KEY}' },
      ]),
    ),
    models: Object.fromEntries(Object.entries(models ?? {}).map(([id, entry]) => [id, shortEntry(entry)])),
  }
}

function shortEntry({ aliases, deployments }: ModelEntry) {
  return {
    ...(aliases.length > 0 && { aliases }),
    deployments: deployments.map(({ upstream }) => ({ upstream })),
  }
}

function addUpstreams(
  document: Document,
  { catalog }: ExportedBase,
  { objects, credentials }: StoreParts,
  variables: Variables,
): void {
  for (const { object, name, entry } of objects)
    if (object === 'upstream' && catalog.upstreams?.get(name)?.managedBy === 'store')
      mapAt(document, ['upstreams']).set(name, entryNode(document, inOrder('upstream', entry)))
  for (const name of credentials) {
    const known = catalog.upstreams?.get(name)
    if (known === undefined || known.upstream.apiKey !== undefined) continue
    const variable = variables.add(`${name}_API_KEY`, `the key of upstream ${name}`)
    mapAt(document, ['upstreams', name]).set('apiKey', variableNode(variable))
  }
}

function addModels(document: Document, { catalog, file }: ExportedBase, { objects }: StoreParts): void {
  for (const { object, name, entry } of objects) {
    const model = object === 'model' ? catalog.models.get(name) : undefined
    if (model === undefined || model.id !== name) continue
    if (model.managedBy === 'store') {
      const { aliases: _all, ...own } = entry
      const served = model.aliases.length > 0 ? { ...own, aliases: [...model.aliases] } : own
      mapAt(document, ['models']).set(name, entryNode(document, inOrder('model', served)))
      continue
    }
    const declared = file.models?.[name]?.deployments ?? []
    const added = Array.isArray(entry['deployments']) ? entry['deployments'].filter(isRecord) : []
    for (const one of added)
      if (!declared.some(({ upstream }) => upstream === one['upstream']))
        seqAt(document, ['models', name, 'deployments']).add(entryNode(document, inOrder('deployment', one)))
  }
}

/** Prices of the store, where no entry has one. */
function addPrices(document: Document, { catalog }: ExportedBase, { prices }: StoreParts): void {
  const forms = new Map(prices.map(({ deployment, form }) => [deployment, form]))
  for (const { id, deployments } of listModels(catalog))
    for (const [index, one] of deployments.entries()) {
      const form = forms.get(one.id)
      if (form === undefined || (one.priceFrom?.from ?? 'catalog') !== 'catalog') continue
      mapAt(document, ['models', id, 'deployments', index]).set('price', entryNode(document, form))
    }
}

function addProjects(document: Document, { projects }: StoreParts, variables: Variables): void {
  for (const { name, entry, keys } of projects) {
    const project = mapAt(document, ['projects', name])
    for (const [field, value] of Object.entries(entry))
      if (!project.has(field)) project.set(field, entryNode(document, value))
    for (const { name: keyName, ...terms } of keys) {
      const variable = variables.add(
        `TORANA_KEY_${name}_${String(keyName)}`,
        `the key ${name}/${String(keyName)}`,
      )
      const node = entryNode(document, { name: keyName, ...terms }) as YAMLMap
      node.items.splice(1, 0, document.createPair('secret', variableNode(variable)))
      seqAt(document, ['projects', name, 'keys']).add(node)
    }
  }
}

/** The mapping at a path. What is missing, empty or a reference becomes a mapping of its own. */
function mapAt(document: Document, path: readonly (string | number)[]): YAMLMap {
  return collectionAt(document, path, isMap, () => document.createNode({}) as YAMLMap)
}

function seqAt(document: Document, path: readonly (string | number)[]): YAMLSeq {
  return collectionAt(document, path, isSeq, () => document.createNode([]) as YAMLSeq)
}

function collectionAt<Collection extends YAMLMap | YAMLSeq>(
  document: Document,
  path: readonly (string | number)[],
  isOne: (node: unknown) => node is Collection,
  empty: () => Collection,
): Collection {
  const [step, ...rest] = path.toReversed()
  if (step === undefined) {
    if (isOne(document.contents)) return document.contents
    const made = empty()
    document.contents = made as never
    return made
  }
  const parent =
    typeof step === 'number' ? seqAt(document, rest.toReversed()) : mapAt(document, rest.toReversed())
  const there: unknown = parent.get(step, true)
  if (isOne(there)) return there
  const made = isRecord(there) && 'resolve' in there ? resolved(document, there) : undefined
  const node = isOne(made) ? made : empty()
  parent.set(step, node)
  return node
}

/** A copy of what an alias refers to: what is added to it is not meant for the other places. */
function resolved(document: Document, alias: object): unknown {
  const target: unknown = (alias as { resolve(of: Document): unknown }).resolve(document)
  return target instanceof Object && 'clone' in target ? (target as { clone(): unknown }).clone() : undefined
}
