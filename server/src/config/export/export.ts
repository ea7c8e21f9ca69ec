/** torana.yaml and what the store adds to it, as one file that means the same. The text of the file stays as it is where it can. */
import { Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { listModels, type Catalog } from '#core/catalog/catalog.ts'
import { lineDiff } from '#core/text/line-diff.ts'
import { isRecord } from '#core/text/record.ts'
import { hide, reveal } from '../file/yaml.ts'
import type { ConfigFile, ModelEntry } from '../schema/schema.ts'
import { entryNode, fieldNode, inOrder, variableNode } from './nodes.ts'
import { replaceSecrets, Variables } from './secrets.ts'

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
  /** Rules and channels. `secrets` are fields of the channel that a variable stands in for. */
  readonly alerts: {
    readonly channels: readonly {
      readonly name: string
      readonly entry: Readonly<Record<string, unknown>>
      readonly secrets: readonly string[]
    }[]
    readonly rules: readonly {
      readonly name: string
      readonly entry: Readonly<Record<string, unknown>>
      readonly channels: readonly { readonly name: string; readonly isDeclared: boolean }[]
    }[]
  }
}

export interface ExportedLine {
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
  const variables = new Variables(base.text ?? '')
  const isChanged = replaceSecrets(document, variables)
  const notes = [
    addUpstreams(document, base, parts, variables),
    addModels(document, base, parts),
    addPrices(document, base, parts),
    addProjects(document, base, parts, variables),
    addAlerts(document, parts, variables),
  ].flat()
  if (base.text !== undefined && !isChanged && notes.length === 0 && isEmpty(parts)) return base.text
  return `${variables.comment()}${leftOut(notes)}${reveal(document.toString(styleOf(base.text ?? '')))}`
}

function isEmpty({ objects, prices, credentials, projects, alerts }: StoreParts): boolean {
  const lists = [objects, prices, credentials, projects, alerts.channels, alerts.rules]
  return lists.every(({ length }) => length === 0)
}

function leftOut(notes: readonly string[]): string {
  return notes.length === 0 ? '' : ['# Left out:', ...notes.map((note) => `#   ${note}`), '', ''].join('\n')
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

/** Returns what could not be exported, as the functions below. */
function addUpstreams(
  document: Document,
  { catalog }: ExportedBase,
  { objects, credentials }: StoreParts,
  variables: Variables,
): string[] {
  const notes: string[] = []
  for (const { object, name, entry } of objects) {
    if (object !== 'upstream') continue
    const known = catalog.upstreams?.get(name)
    if (known === undefined) notes.push(`upstream ${name}, which is faulty`)
    else if (known.managedBy === 'store')
      mapAt(document, ['upstreams']).set(name, entryNode(document, inOrder('upstream', entry)))
  }
  for (const name of credentials) {
    const known = catalog.upstreams?.get(name)
    if (known === undefined || known.upstream.apiKey !== undefined) continue
    if (known.upstream.dialect === 'demo') continue
    const variable = variables.add(`${name}_API_KEY`, `the key of upstream ${name}`)
    mapAt(document, ['upstreams', name]).set('apiKey', variableNode(variable))
  }
  return notes
}

function addModels(document: Document, { catalog, file }: ExportedBase, { objects }: StoreParts): string[] {
  const notes: string[] = []
  for (const { object, name, entry } of objects) {
    if (object !== 'model') continue
    const model = catalog.models.get(name)
    const declared = file.models?.[name]?.deployments
    if (model?.id !== name) notes.push(`model ${name}, which is faulty`)
    else if (declared === undefined) {
      const { aliases: _all, ...own } = entry
      const served = model.aliases.length > 0 ? { ...own, aliases: [...model.aliases] } : own
      mapAt(document, ['models']).set(name, entryNode(document, inOrder('model', served)))
    } else {
      const added = Array.isArray(entry['deployments']) ? entry['deployments'].filter(isRecord) : []
      const others = added.filter((one) => !declared.some(({ upstream }) => upstream === one['upstream']))
      if (others.length > 0 && !model.deployments.some(({ managedBy }) => managedBy === 'store'))
        notes.push(`deployments of the store for model ${name}, which are faulty`)
      else
        for (const one of others)
          seqAt(document, ['models', name, 'deployments']).add(
            entryNode(document, inOrder('deployment', one)),
          )
    }
  }
  return notes
}

/** Prices of the store, where no entry has one. */
function addPrices(document: Document, { catalog }: ExportedBase, { prices }: StoreParts): string[] {
  const forms = new Map(prices.map(({ deployment, form }) => [deployment, form]))
  for (const { id, deployments } of listModels(catalog))
    for (const [index, one] of deployments.entries()) {
      const form = forms.get(one.id)
      if (form === undefined || (one.priceFrom?.from ?? 'catalog') !== 'catalog') continue
      mapAt(document, ['models', id, 'deployments', index]).set('price', fieldNode(document, form))
    }
  return []
}

function addProjects(
  document: Document,
  { catalog }: ExportedBase,
  { projects }: StoreParts,
  variables: Variables,
): string[] {
  const notes: string[] = []
  for (const { name, entry, keys } of projects) {
    const declared = catalog.projects.find((one) => one.name === name)
    const project = mapAt(document, ['projects', name])
    if (declared === undefined)
      for (const [field, value] of Object.entries(entry)) project.set(field, fieldNode(document, value))
    for (const { name: keyName, models, ...terms } of keys) {
      if (declared?.keys.some((one) => one.name === keyName)) continue
      const served = Array.isArray(models) ? models.filter((id) => catalog.models.has(String(id))) : undefined
      if (served?.length === 0) {
        notes.push(`key ${name}/${String(keyName)}, whose models are not served any more`)
        continue
      }
      const variable = variables.add(
        `TORANA_KEY_${name}_${String(keyName)}`,
        `the key ${name}/${String(keyName)}`,
      )
      const node = entryNode(document, {
        name: keyName,
        ...(served && { models: served }),
        ...terms,
      })
      node.items.splice(1, 0, document.createPair('secret', variableNode(variable)))
      seqAt(document, ['projects', name, 'keys']).add(node)
    }
  }
  return notes
}

/** A name that the file has already gets a number: both are in force. */
function addAlerts(document: Document, { alerts }: StoreParts, variables: Variables): string[] {
  const names = new Map<string, string>()
  for (const { name, entry, secrets } of alerts.channels) {
    const channels = mapAt(document, ['alerts', 'channels'])
    const free = freeName(name, channels)
    names.set(name, free)
    const node = entryNode(document, entry)
    for (const field of secrets) {
      const variable = variables.add(`ALERT_${free}_${field}`, `${field} of alert channel ${free}`)
      node.set(field, variableNode(variable))
    }
    channels.set(free, node)
  }
  for (const { name, entry, channels } of alerts.rules) {
    const rules = mapAt(document, ['alerts', 'rules'])
    const named = channels.map((one) => (one.isDeclared ? one.name : (names.get(one.name) ?? one.name)))
    const { kind, ...others } = entry
    rules.set(freeName(name, rules), entryNode(document, { kind, channels: named, ...others }))
  }
  return []
}

function freeName(name: string, taken: YAMLMap): string {
  if (!taken.has(name)) return name
  let number = 2
  while (taken.has(`${name}-${number}`)) number += 1
  return `${name}-${number}`
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
    if (!isOne(document.contents)) document.contents = empty() as never
    return inBlock(document.contents as never)
  }
  const parent =
    typeof step === 'number' ? seqAt(document, rest.toReversed()) : mapAt(document, rest.toReversed())
  const there: unknown = parent.get(step, true)
  if (isOne(there)) return inBlock(there)
  const made = isRecord(there) && 'resolve' in there ? resolved(document, there) : undefined
  const node = isOne(made) ? made : empty()
  parent.set(step, node)
  return inBlock(node)
}

/** What is added to a mapping in braces would make one long line. */
function inBlock<Collection extends YAMLMap | YAMLSeq>(node: Collection): Collection {
  node.flow = false
  return node
}

/** A copy of what an alias refers to: what is added to it is not meant for the other places. */
function resolved(document: Document, alias: object): unknown {
  const target: unknown = (alias as { resolve(of: Document): unknown }).resolve(document)
  return target instanceof Object && 'clone' in target ? (target as { clone(): unknown }).clone() : undefined
}
