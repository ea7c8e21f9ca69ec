import { hash } from 'node:crypto'
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { identityOf, onlyTextOf, type Content } from '#core/content/content.ts'
import type { Input } from '#core/embedding/input.ts'
import type { VectorDigests } from '#ports/vector-cache.ts'
import { cacheKeyOf } from './secret.ts'

/** Each digest is keyed by the node's secret, so that a reader of a shared cache can't try texts on its keys. */
export function vectorDigests(secret: string): VectorDigests {
  const key = cacheKeyOf(secret).toHex()
  const textByModel = new WeakMap<EmbeddingModel, string>()
  const textOf = (model: EmbeddingModel): string => {
    const text = textByModel.get(model) ?? modelText(model)
    textByModel.set(model, text)
    return text
  }
  return ({ project, space, inputType = '', model }) => {
    const prefix = `${key}${JSON.stringify([project, space, inputType, textOf(model)])}\n`
    return (input) => digestsOf(input, prefix)
  }
}

/** The properties of a model that decide on a vector: how it learns of its task, and under which names it runs. */
function modelText({ facts, deployments }: EmbeddingModel): string {
  const names = new Set(deployments.map(({ upstreamModel }) => upstreamModel))
  return JSON.stringify([facts.inputType, facts.tokenizer, [...names].sort()])
}

/** A text and its token ids have different digests: the node can't know whether an upstream reads them alike. */
function digestsOf(input: Input, prefix: string): readonly string[] {
  switch (input.kind) {
    case 'texts':
      return input.texts.map((text) => textDigest(text, 'text', prefix))
    case 'tokens':
      return input.tokens.map((ids) => hash('sha256', `${prefix}tokens\n${ids.join()}`))
    case 'contents':
      return input.contents.map((content) => contentDigest(content, prefix))
  }
}

/** A content that is one text has the vector of the text. */
function contentDigest(content: Content, prefix: string): string {
  const text = onlyTextOf(content)
  if (text !== undefined) return textDigest(text, 'text', prefix)
  const identity = identityOf(content)
  if (identity === undefined) throw new TypeError('A content with an address has no digest.')
  return textDigest(identity, 'content', prefix)
}

function textDigest(text: string, kind: string, prefix: string): string {
  // UTF-8 has one replacement for every half of a surrogate pair: different texts would share a vector.
  return text.isWellFormed()
    ? hash('sha256', `${prefix}${kind}\n${text}`)
    : hash('sha256', Buffer.concat([Buffer.from(`${prefix}${kind} units\n`), Buffer.from(text, 'utf16le')]))
}
