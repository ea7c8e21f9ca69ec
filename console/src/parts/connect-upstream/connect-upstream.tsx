/** Connects an upstream: choose it, check its key, tick its models. The secret lives in this component alone. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { deploymentQueries, type Deployment } from '../../api/queries/deployments.ts'
import { upstreamQueries } from '../../api/queries/upstreams.ts'
import { duration } from '../../app/format.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Form, SubmitButton, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { Select } from '../../ui/select.tsx'
import { useSending } from '../../ui/sending.ts'
import { words } from '../../words/words.ts'
import {
  asksFor,
  hostOf,
  isComplete,
  nameOf,
  NO_FIELDS,
  providerOf,
  SERVERS,
  TILES,
  type Fields,
  type Found,
} from './form.ts'
import { besideOf, isServed, type AddedDeployment } from './fallbacks.ts'
import { FoundModels, lacksPrice, type OwnKind } from './found-models.tsx'
import { isWhole, priceForm, type GivenPrice, type PriceForm } from './given-price.tsx'
import { Tiles } from './tiles.tsx'
import { useConnect } from './connect.ts'

type Checked = Schema<'Checked'>

interface ConnectUpstreamProps {
  /** `fallbacks`: deployments of models that are served already. They are not saved. */
  readonly onAdded: (
    models: readonly Schema<'ModelRow'>[],
    fallbacks: readonly AddedDeployment[],
  ) => void | Promise<void>
  /** True where the page has pending changes: a further deployment of a served model is added to them. */
  readonly addsFallbacks?: boolean | undefined
  /** Where it can wait. */
  readonly onSkip?: (() => void) | undefined
}

export function ConnectUpstream({ onAdded, addsFallbacks = false, onSkip }: ConnectUpstreamProps) {
  const providers = useQuery(upstreamQueries.providers()).data?.data ?? NO_PROVIDERS
  const [fields, setFields] = useState(NO_FIELDS)
  const [checked, setChecked] = useState<Checked>()
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [own, setOwn] = useState<ReadonlyMap<string, OwnKind>>(new Map())
  const [prices, setPrices] = useState<ReadonlyMap<string, GivenPrice>>(new Map())
  const [sharing, setSharing] = useState<ReadonlySet<string>>(new Set())
  const queries = useQueryClient()
  const deployments =
    useQuery({ ...deploymentQueries.all(), enabled: addsFallbacks }).data?.data ?? NO_DEPLOYMENTS
  const write = useConnect()
  const adding = useSending()
  const chosen = checked?.models.filter(({ id }) => ticked.has(id)) ?? []
  const added = new Set(chosen.filter((one) => !isServed(one)).map(({ id }) => id))
  const unpriced = chosen.filter((one) => lacksPrice(one) && !prices.has(one.id))
  const isPriceWhole = [...prices].every(([id, price]) => !ticked.has(id) || isWhole(price))

  const change = (next: Partial<Fields>): void => {
    setFields({ ...fields, ...next })
    setChecked(undefined)
    write.forget()
  }
  const check = async (): Promise<void> => {
    const answer = await write.check(fields)
    setChecked(answer)
    setOwn(new Map())
    setSharing(new Set())
    const served = addsFallbacks ? answer.models.filter(isServed) : []
    const all = served.length === 0 ? [] : (await queries.fetchQuery(deploymentQueries.all())).data
    // A deployment without a price is skipped for keys with a hard budget: it costs what the one beside it costs.
    const priced = served.filter((one) => lacksPrice(one) && besideOf(one.id, all).price !== undefined)
    setPrices(new Map(priced.map(({ id }) => [id, 'same'] as const)))
    const added = answer.models.filter((one) => one.known && !isServed(one))
    setTicked(new Set([...added, ...served].map(({ id }) => id)))
  }
  const add = async (): Promise<void> => {
    const { upstream, models } = await write.add(fields, added, own, pricesOf(chosen, own, prices))
    const fallbacks = chosen.filter(isServed).map(({ id: model }): AddedDeployment => ({
      model,
      upstream,
      role: sharing.has(model) ? 'share' : 'fallback',
      price: prices.get(model),
    }))
    setFields(NO_FIELDS)
    setChecked(undefined)
    await onAdded(models, fallbacks)
  }

  return (
    <div className="flex flex-col gap-4">
      <Tiles providers={providers} value={fields.tile} onChange={(tile) => change({ ...NO_FIELDS, tile })} />
      <Form className="flex flex-col gap-4" onSubmit={check}>
        <PlaceFields fields={fields} providers={providers} onChange={change} />
        <Field
          name="secret"
          label={
            asksFor(fields).address && fields.tile !== 'azure'
              ? words.upstreams.serverKey
              : words.upstreams.key(nameOf(fields, providers))
          }
          hint={words.upstreams.keyHint(hostOf(fields, providers))}
        >
          <span className="flex gap-2">
            <span className="min-w-0 flex-1">
              <SecretInput
                value={fields.secret}
                className="font-mono"
                onChange={(secret) => change({ secret })}
              />
            </span>
            <SubmitButton
              look="plain"
              disabled={!isComplete(fields)}
              icon={checked?.ok === true && <CircleCheck size={15} aria-hidden className="text-good" />}
            >
              {checked?.ok === true
                ? words.upstreams.checked(duration(checked.duration_ms))
                : words.upstreams.check}
            </SubmitButton>
          </span>
        </Field>
        <FormProblem />
      </Form>
      {checked?.ok === false && (
        <Banner tone="bad" title={words.upstreams.failed}>
          {checked.fault?.message}
        </Banner>
      )}
      {checked?.ok === true && (
        <>
          {!checked.listed && (
            <p className="text-12 text-ink-2">{words.upstreams.unlisted(nameOf(fields, providers))}</p>
          )}
          <FoundModels
            found={checked.models}
            ticked={ticked}
            onTick={setTicked}
            own={own}
            onOwn={setOwn}
            prices={prices}
            onPrices={setPrices}
            fallbacks={
              addsFallbacks
                ? { besideOf: (model) => besideOf(model, deployments), sharing, onSharing: setSharing }
                : undefined
            }
          />
          <Field name="name" label={words.upstreams.name} hint={words.upstreams.nameHint}>
            <TextInput
              value={fields.name}
              autoComplete="off"
              spellCheck={false}
              onChange={(name) => setFields({ ...fields, name })}
            />
          </Field>
          {unpriced.length > 0 && (
            <Banner
              tone="warn"
              title={words.upstreams.unpriced(unpriced.length)}
              action={
                <Button
                  onClick={() =>
                    setPrices(new Map([...prices, ...unpriced.map(({ id }) => [id, 'free'] as const)]))
                  }
                >
                  {words.upstreams.declareFree(unpriced.length)}
                </Button>
              }
            >
              {words.upstreams.unpricedText}
            </Banner>
          )}
        </>
      )}
      {adding.problem !== undefined && <FormProblem>{adding.problem}</FormProblem>}
      {(onSkip !== undefined || checked?.ok === true) && (
        <div className="flex items-center justify-end gap-2">
          {onSkip !== undefined && <Button onClick={onSkip}>{words.upstreams.skip}</Button>}
          {checked?.ok === true && (
            <Button
              look="primary"
              size="large"
              writes
              busy={adding.busy}
              disabled={ticked.size === 0 || !isPriceWhole}
              onClick={() => void adding.run(add)}
            >
              {chosen.length > added.size
                ? words.upstreams.addWithFallbacks(added.size, chosen.length - added.size)
                : words.upstreams.add(added.size)}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

const NO_DEPLOYMENTS: readonly Deployment[] = []
const NO_PROVIDERS: readonly Schema<'Provider'>[] = []

interface PlaceFieldsProps {
  readonly fields: Fields
  readonly providers: readonly Schema<'Provider'>[]
  readonly onChange: (next: Partial<Fields>) => void
}

/** Where it is, where the provider alone does not say it. */
function PlaceFields({ fields, providers, onChange }: PlaceFieldsProps) {
  const asked = asksFor(fields)
  const text = (name: 'region' | 'project' | 'location', placeholder: string) => (
    <Field key={name} name={name} label={words.upstreams[name]} className="flex-1">
      <TextInput
        value={fields[name]}
        placeholder={placeholder}
        onChange={(next) => onChange({ [name]: next })}
      />
    </Field>
  )
  return (
    <>
      {fields.tile === 'own' && (
        <Field name="provider" label={words.upstreams.kindOfServer}>
          <Select
            value={fields.provider}
            options={[
              { value: '', label: words.upstreams.anyServer },
              ...named(providers, (id) => isServer(id)),
            ]}
            onChange={(provider) =>
              onChange({
                provider,
                baseUrl: providers.find(({ id }) => id === provider)?.base_url ?? fields.baseUrl,
              })
            }
          />
        </Field>
      )}
      {fields.tile === 'more' && (
        <Field name="provider" label={words.upstreams.otherProvider}>
          <Select
            value={providerOf(fields) ?? ''}
            options={[
              { value: '', label: words.upstreams.anyServer },
              ...named(providers, (id) => !isServer(id) && !isTile(id)),
            ]}
            onChange={(provider) => onChange({ provider })}
          />
        </Field>
      )}
      {asked.address && (
        <Field
          name="base_url"
          label={fields.tile === 'azure' ? words.upstreams.azureAddress : words.upstreams.address}
          {...(fields.tile !== 'azure' && { hint: words.upstreams.addressHint })}
        >
          <TextInput
            value={fields.baseUrl}
            inputMode="url"
            placeholder={
              fields.tile === 'azure' ? 'https://my-eu.openai.azure.com' : 'http://tei.internal:8080/v1'
            }
            onChange={(baseUrl) => onChange({ baseUrl })}
          />
        </Field>
      )}
      {asked.region && text('region', 'eu-central-1')}
      {asked.place && (
        <span className="flex gap-2">
          {text('project', 'my-project')}
          {text('location', 'europe-west4')}
        </span>
      )}
    </>
  )
}

/** The prices of new deployments. The same price as beside it belongs to fallbacks, which have none of their own yet. */
function pricesOf(
  chosen: readonly Found[],
  own: ReadonlyMap<string, OwnKind>,
  prices: ReadonlyMap<string, GivenPrice>,
): ReadonlyMap<string, PriceForm> {
  return new Map(
    chosen.flatMap(({ id, kind }) => {
      const price = prices.get(id)
      return price === undefined || price === 'same'
        ? []
        : [[id, priceForm(own.get(id)?.kind ?? kind ?? 'embedding', price)] as const]
    }),
  )
}

function isServer(id: string): boolean {
  return (SERVERS as readonly string[]).includes(id)
}

function isTile(id: string): boolean {
  return (TILES as readonly string[]).includes(id)
}

function named(providers: readonly Schema<'Provider'>[], wanted: (id: string) => boolean) {
  return providers.filter(({ id }) => wanted(id)).map(({ id, name }) => ({ value: id, label: name }))
}
