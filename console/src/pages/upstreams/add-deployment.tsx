/** Adds a deployment to the pending changes, and says when it will get calls: it begins as a fallback. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { routingQueries, type Routing } from '../../api/queries/routing.ts'
import { Banner } from '../../ui/banner.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { Select } from '../../ui/select.tsx'
import { FieldError } from '../../ui/sending.ts'
import { words } from '../../words/words.ts'
import { priceBeside } from './added.ts'
import { deploymentsIn, fallbackPriority, type Tier } from './deployments.ts'
import { identityOf, type Entry } from './entry.ts'
import type { ModelEdit } from './model-edit.ts'

interface AddDeploymentProps {
  readonly routing: Routing
  readonly tiers: readonly Tier[]
  readonly edit: ModelEdit
  readonly onClose: () => void
}

export function AddDeployment({ routing, tiers, edit, onClose }: AddDeploymentProps) {
  const say = words.routing.newDeployment
  const { data } = useQuery(routingQueries.upstreams())
  const [upstream, setUpstream] = useState('')
  const [model, setModel] = useState('')
  const rows = tiers.flatMap((tier) => tier.rows)
  const names = data?.data.map(({ name }) => name) ?? []
  const unused = names.filter((name) => rows.every((row) => row.upstream !== name))
  const priority = fallbackPriority(tiers)
  const isFallback = tiers.length > 0
  const tier = Math.max(2, tiers.length)
  // A list price of the other upstream would not be that of this one.
  const own = { ...routing, deployments: routing.deployments.filter((one) => one.price_from !== 'catalog') }
  const price = priceBeside(own, edit.entry)
  const add = (): void => {
    const entry: Entry = {
      upstream,
      ...(model.trim() !== '' && { model: model.trim() }),
      ...(priority > 0 && { priority }),
      ...(price !== undefined && { price }),
    }
    const isTaken =
      deploymentsIn(edit.entry).some((one) => identityOf(one) === identityOf(entry)) ||
      rows.some((row) => row.entry === null && row.upstream === upstream && model.trim() === '')
    if (isTaken) throw new FieldError('model', say.taken(upstream))
    edit.setDeployments([...deploymentsIn(edit.entry), entry])
  }
  return (
    <FormSheet
      title={say.title(routing.model)}
      go={say.go}
      why={upstream === '' ? say.choose : undefined}
      onSubmit={add}
      onClose={onClose}
    >
      <Field name="upstream" label={say.upstream} {...(unused.length === 0 && { hint: say.noUpstreams })}>
        <Select
          value={upstream}
          placeholder={say.choose}
          // Those that do not serve the model yet come first.
          options={[...unused, ...names.filter((name) => !unused.includes(name))].map((name) => ({
            value: name,
            label: name,
          }))}
          onChange={setUpstream}
        />
      </Field>
      <Field name="model" label={say.upstreamModel} hint={say.sameName(routing.model)}>
        <TextInput autoComplete="off" spellCheck={false} value={model} onChange={setModel} />
      </Field>
      <Banner tone="accent">
        <p>{isFallback ? say.fallback(tier) : say.first}</p>
        {routing.kind === 'embedding' && <p className="pt-1">{say.sameSpace}</p>}
      </Banner>
    </FormSheet>
  )
}
