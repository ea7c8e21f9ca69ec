/** What connects models with one another: aliases and fallbacks. */
import type { Models } from './models.ts'
import { isModelId } from './read.ts'
import type { Alias, Fallback } from './settings.ts'
import type { Notes } from './notes.ts'

export function addAliases(aliases: readonly Alias[], { models, ids }: Models, notes: Notes): void {
  const taken = new Set([...ids.keys(), ...models.keys()])
  for (const { place, alias, target } of aliases) {
    const subject = `${alias} → ${target}`
    const model = models.get(ids.get(target) ?? '')
    if (!model) notes.leave(place, subject, 'aliases of models that are not carried over')
    else if (!isModelId(alias))
      notes.leave(place, subject, 'its name holds characters that a model id can not have')
    else if (taken.has(alias)) notes.leave(place, subject, 'a model or another alias has this name already')
    else {
      model.aliases.push(alias)
      taken.add(alias)
    }
  }
}

/** A fallback within one vector space is a deployment that goes later; one into another space would spoil an index. */
export function addFallbacks(fallbacks: readonly Fallback[], { models, ids }: Models, notes: Notes): void {
  const before = new Map([...models].map(([id, { deployments }]) => [id, [...deployments]]))
  for (const { place, from, to } of fallbacks) {
    const model = models.get(ids.get(from) ?? '')
    for (const name of to) {
      const subject = `${from} → ${name}`
      const other = models.get(ids.get(name) ?? '')
      if (!model || !other) notes.leave(place, subject, 'fallbacks of models that are not carried over')
      else if (model.identity === undefined || model.identity !== other.identity) {
        notes.leave(
          place,
          subject,
          'fallbacks to another model: its vectors have another space and must not be mixed, so the request fails instead. For the same weights elsewhere, add a deployment with a larger `priority`: it is asked later',
        )
      } else if (model !== other) {
        const last = Math.max(...model.deployments.map(({ priority }) => priority))
        const added = (before.get(ids.get(name) ?? '') ?? []).filter(
          (deployment) =>
            !model.deployments.some(
              ({ upstream, model: word }) => upstream === deployment.upstream && word === deployment.model,
            ),
        )
        model.deployments.push(
          ...added.map((deployment) => ({
            ...deployment,
            priority: last + 1 + deployment.priority,
            comment: `${place}: fallback to ${name}`,
          })),
        )
      }
    }
  }
}
