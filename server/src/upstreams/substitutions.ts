/** Upstreams whose answers are compared with what was asked for: one that answers with another model is reported. */
import { substitutionIn, type Substitution } from '#core/catalog/substitution.ts'
import type { ImageUpstream } from '#ports/image-upstream.ts'
import type { EmbeddingUpstream } from '#ports/upstream.ts'

type Report = (substitution: Substitution) => void

export function reportingEmbeddings(upstream: EmbeddingUpstream, report: Report): EmbeddingUpstream {
  return {
    embed: (call) =>
      upstream.embed(call).then((answer) => {
        const found = substitutionIn(call.deployment, answer.model)
        if (found !== undefined) report(found)
        return answer
      }),
  }
}

export function reportingImages(upstream: ImageUpstream, report: Report): ImageUpstream {
  return {
    async generate(call, events) {
      const answer = await upstream.generate(call, events)
      const found = substitutionIn(call.deployment, answer.model)
      if (found !== undefined) report(found)
      return answer
    },
  }
}
