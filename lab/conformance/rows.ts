/** A row of the matrix: what torana.yaml says of its models, and what each client asks of them. */
import type { Client } from './clients.ts'
import type { ListName } from './texts.ts'

/** One upstream as the fake provider plays it. */
export interface Played {
  /** Traits of the fake provider, joined by `+`. */
  readonly traits: string
  /** Path of the wire below the traits. */
  readonly wire: string
  /** The rest of the upstream's entry in torana.yaml. */
  readonly upstream: Readonly<Record<string, unknown>>
  /** The rest of the deployment's entry. */
  readonly deployment: Readonly<Record<string, unknown>>
}

export interface ModelEntry {
  /** In order of priority. */
  readonly played: readonly Played[]
  /** The rest of the model's entry in torana.yaml. */
  readonly entry: Readonly<Record<string, unknown>>
}

export type Expectation =
  | {
      readonly kind: 'vectors'
      /** Width of the upstream's vectors. */
      readonly nativeWidth: number
      readonly width: number
    }
  | ({ readonly kind: 'error' } & ExpectedError)

export interface ExpectedError {
  readonly status: number
  readonly code: string
  /** A part of the message that its reader needs. */
  readonly says: string
  readonly retryAfter?: string
}

export interface Case {
  readonly name: string
  readonly model: string
  readonly inputs: ListName
  readonly dimensions?: number
  readonly wrongKey?: true
  /** Only the first input, in the library's own form for a single text. */
  readonly single?: true
  /** With the library's own retries; otherwise they are switched off, or failing cases would take minutes. */
  readonly retries?: true
  readonly expected: Expectation
}

export interface Row {
  readonly name: string
  /** By public id. */
  readonly models: Readonly<Record<string, ModelEntry>>
  /** None where the client can't ask it. */
  cases(client: Client): readonly Case[]
}

export const nativeWidth = 1536
const narrowWidth = 256

const openaiWire = { wire: 'v1', upstream: { dialect: 'openai' } }

/** Everything OpenAI itself can do; rows take away what their upstream can't. */
export const allCapabilities = {
  encodings: ['float', 'base64'],
  tokenArrays: true,
  dimensions: { min: 1, max: nativeWidth },
  user: true,
}

export function openaiPlayed(traits: string, capabilities: Readonly<Record<string, unknown>> = {}): Played {
  return { ...openaiWire, traits, deployment: { capabilities: { ...allCapabilities, ...capabilities } } }
}

export function ownModel(...played: Played[]): ModelEntry {
  return { played, entry: { kind: 'embedding', embedding: facts } }
}

/** The fake provider reads this vocabulary, and counts a token per four bytes. */
const facts = {
  dimensions: nativeWidth,
  matryoshka: true,
  tokenizer: 'cl100k_base',
  tokenCounts: 'estimated',
}

/** For long lists: 2,048 vectors at OpenAI's width would take seconds in every client and prove nothing more. */
export const smallWidth = 512

export function smallModel(played: Played): ModelEntry {
  return {
    // The fake provider takes the width from the end of the name.
    played: [{ ...played, deployment: { ...played.deployment, model: `embed-w${smallWidth}` } }],
    entry: { kind: 'embedding', embedding: { ...facts, dimensions: smallWidth } },
  }
}

/** Every client gets the right vectors: all of `inputs` at full width, and a few at a width it names. */
export function answers(
  name: string,
  model: ModelEntry,
  inputs: ListName = 'mixed',
  width = nativeWidth,
): Row {
  return {
    name,
    models: { [name]: model },
    cases: () => [
      { name, model: name, inputs, expected: { kind: 'vectors', nativeWidth: width, width } },
      {
        name: `${name} with dimensions`,
        model: name,
        inputs: 'few',
        dimensions: narrowWidth,
        expected: { kind: 'vectors', nativeWidth: width, width: narrowWidth },
      },
    ],
  }
}

/** Every client raises its own error, with our code and message in it. */
export function fails(name: string, model: ModelEntry, expected: ExpectedError): Row {
  return {
    name,
    models: { [name]: model },
    cases: () => [{ name, model: name, inputs: 'two', expected: { kind: 'error', ...expected } }],
  }
}
