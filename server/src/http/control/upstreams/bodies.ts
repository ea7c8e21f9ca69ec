/** Upstreams and what they offer, as answers. Nothing secret is in them. */
import type { z } from 'zod'
import { listModels, type Catalog, type KnownUpstream, type Upstream } from '#core/catalog.ts'
import { addressOf, credentialAddressesOf } from '#core/upstream-address.ts'
import type { FailureKind, UpstreamFailure } from '#core/fault/failure.ts'
import type { FaultCode } from '#core/fault/fault.ts'
import { embeddingAbilities, narrowerWidths } from '#core/options/embedding.ts'
import { imageAbilities } from '#core/options/image.ts'
import type { CredentialRecord } from '#ports/credentials.ts'
import type { CheckedUpstream, KnownProvider, OfferedModel } from '#ports/upstream-offers.ts'
import { managedBody } from '../models/bodies.ts'
import { priceBody } from '../wire/price-text.ts'
import { timeOf } from '../wire/times.ts'
import type { checked, provider, upstream } from './schemas.ts'

export function providerBody(one: KnownProvider): z.output<typeof provider> {
  return {
    id: one.id,
    name: one.name,
    dialect: one.dialect,
    base_url: one.baseUrl ?? null,
    embedding_models: one.embeddingModels,
    image_models: one.imageModels,
  }
}

export function upstreamBody(
  { upstream: one, managedBy }: KnownUpstream,
  stored: CredentialRecord | undefined,
  catalog: Catalog,
): z.output<typeof upstream> {
  const address = addressOf(one)
  const isUsable = stored?.hasSecret === true && credentialAddressesOf(one).includes(stored.baseUrl)
  const deployments = listModels(catalog).flatMap<{ readonly id: string; readonly upstream: Upstream }>(
    (model) => model.deployments,
  )
  return {
    ...managedBody(managedBy),
    name: one.name,
    provider: one.provider ?? null,
    dialect: one.dialect,
    base_url: address,
    credential: {
      source: one.apiKey === undefined ? (isUsable ? 'store' : 'none') : 'configuration',
      tail: isUsable ? (stored.tail ?? null) : null,
      updated_at: isUsable ? timeOf(stored.updatedAtMs) : null,
    },
    deployments: deployments.filter(({ upstream: { name } }) => name === one.name).map(({ id }) => id),
  }
}

/** A check sends no inputs: whether they would be split is not its question. */
const ANY_NUMBER = 1

export function checkedBody(
  { durationMs, failure, isListed, models }: CheckedUpstream,
  asked: Upstream,
  catalog: Catalog,
): z.output<typeof checked> {
  return {
    ok: failure === undefined,
    duration_ms: Math.round(durationMs),
    fault: failure === undefined ? null : faultOf(failure, asked),
    listed: isListed,
    models: models.map((one) => offeredBody(one, catalog)),
  }
}

function offeredBody(
  { id, model, asOf }: OfferedModel,
  catalog: Catalog,
): z.output<typeof checked>['models'][number] {
  const served = catalog.models.get(id)?.managedBy ?? null
  if (model === undefined)
    return {
      id,
      kind: null,
      known: false,
      price: [],
      as_of: null,
      width: null,
      narrower: null,
      can: {},
      served,
    }
  const [deployment] = model.deployments
  const narrower = model.kind === 'embedding' ? narrowerWidths(model) : null
  return {
    id,
    kind: model.kind,
    known: true,
    price: deployment === undefined ? [] : priceBody(deployment.price),
    as_of: asOf ?? null,
    width: model.kind === 'embedding' ? model.facts.dimensions : null,
    narrower: narrower === null || typeof narrower === 'string' ? narrower : [...narrower],
    can: model.kind === 'embedding' ? embeddingAbilities(model, ANY_NUMBER) : imageAbilities(model),
    served,
  }
}

const CODES: Readonly<Record<FailureKind, FaultCode>> = {
  refused: 'upstream_refused',
  contentRefused: 'upstream_refused',
  rejectedUs: 'upstream_rejected_us',
  missing: 'upstream_model_missing',
  rateLimited: 'upstream_rate_limited',
  failed: 'upstream_failed',
  unreachable: 'upstream_unreachable',
  timedOut: 'upstream_timeout',
  broken: 'upstream_broken_answer',
}

/** What follows the name of the upstream. */
const WORDS: Readonly<Record<FailureKind, string>> = {
  refused: 'refused the question for its models.',
  contentRefused: 'refused the question for its models.',
  rejectedUs: 'refused the key. Check that it is whole, and that it may list models.',
  missing: 'has no list of models at this address. Check the path: most servers want /v1 at its end.',
  rateLimited: 'has had too many calls. Try again in a minute.',
  failed: 'failed. Try again.',
  unreachable: 'could not be reached',
  timedOut:
    'did not answer in time. Check the address, and that this node may connect to it: DNS, firewall, proxy.',
  broken: 'answered with something that is no list of models. Is this the address of its API?',
}

/**
 * In our own words: what the upstream says may hold anything. Why it could not be reached is what the network of this node
 * said.
 */
function faultOf(
  { kind, message: cause, detail: { status } }: UpstreamFailure,
  asked: Upstream,
): { code: string; message: string } {
  const sentence = `${hostOf(asked)} ${WORDS[kind]}`
  if (kind === 'unreachable')
    return {
      code: CODES[kind],
      message: `${sentence}: ${cause}. Check the address, and that this node may connect to it: DNS, firewall, proxy.`,
    }
  return { code: CODES[kind], message: status === undefined ? sentence : `${sentence} (status ${status})` }
}

/** Where the package of a provider alone knows its address, the provider. */
function hostOf({ baseUrl, provider }: Upstream): string {
  return URL.parse(baseUrl ?? '')?.host || (provider ?? 'The upstream')
}
