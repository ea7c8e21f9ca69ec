/** Opens what calls upstreams: connections, dialects, demo models, and downloads of images. */
import type { Deployment } from '#core/catalog/catalog.ts'
import { sharedYield, yieldLoop } from '#runtime/event-loop.ts'
import { aiSdkEmbedding } from '#upstreams/ai-sdk/embedding.ts'
import { aiSdkImage } from '#upstreams/ai-sdk/image.ts'
import { UpstreamHttp } from '#upstreams/connect/http.ts'
import { GuardedPictureFetcher } from '#upstreams/connect/picture-fetch.ts'
import { DemoEmbedding } from '#upstreams/demo/embedding.ts'
import { DemoImage } from '#upstreams/demo/image.ts'
import { imageRegistry } from '#upstreams/image-registry.ts'
import { HttpModelListing } from '#upstreams/listing/listing.ts'
import { reportingEmbeddings, reportingImages } from '#upstreams/substitutions.ts'
import { Substitutions } from '#worker/catalog/substitutions.ts'
import { upstreamRegistry } from '#upstreams/registry.ts'
import type { Basics } from './basics.ts'

export type Upstreams = ReturnType<typeof openUpstreams>

export function openUpstreams({ settings, limits, clock, log, metrics }: Basics) {
  const options = { ...limits, proxy: settings.proxy }
  // Of all bodies together a megabyte, which is about what a turn reads.
  const http = new UpstreamHttp({ ...options, yieldOnSending: sharedYield(16) })
  const fetcher = new GuardedPictureFetcher(options)
  const demo = new DemoEmbedding()
  const substitutions = new Substitutions({
    clock,
    count: metrics.substituted,
    log: (substitution) =>
      log.warn({ ...substitution }, 'an upstream answered with another model than asked for'),
  })
  const report = substitutions.note.bind(substitutions)
  return {
    upstream: reportingEmbeddings(
      upstreamRegistry(http, yieldLoop, { 'ai-sdk': aiSdkEmbedding(options), demo }),
      report,
    ),
    /** Whether a call would load a model into this process. */
    isAsleep: ({ upstream }: Pick<Deployment, 'upstream'>) => upstream.dialect === 'demo' && demo.isAsleep,
    imageUpstream: reportingImages(
      imageRegistry(http, {
        fetcher,
        answerBytes: limits.answerBytes,
        others: { 'ai-sdk': aiSdkImage(options), demo: new DemoImage() },
      }),
      report,
    ),
    fetcher,
    listing: new HttpModelListing(http),
    async [Symbol.asyncDispose]() {
      await Promise.all([http.close(), demo.close()])
    },
  }
}
