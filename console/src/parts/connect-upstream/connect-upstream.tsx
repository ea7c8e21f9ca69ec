/** Connects an upstream: choose it, check its key, tick its models. The secret lives in this component alone. */
import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
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
} from './form.ts'
import { FoundModels, isTaken, lacksPrice, type OwnKind } from './found-models.tsx'
import { isWhole, type GivenPrice } from './given-price.tsx'
import { Tiles } from './tiles.tsx'
import { useConnect } from './connect.ts'

type Checked = Schema<'Checked'>

interface ConnectUpstreamProps {
  readonly onAdded: (models: readonly Schema<'ModelRow'>[]) => void
  /** Where it can wait. */
  readonly onSkip?: (() => void) | undefined
}

export function ConnectUpstream({ onAdded, onSkip }: ConnectUpstreamProps) {
  const providers = useQuery(upstreamQueries.providers()).data?.data ?? NO_PROVIDERS
  const [fields, setFields] = useState(NO_FIELDS)
  const [checked, setChecked] = useState<Checked>()
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [own, setOwn] = useState<ReadonlyMap<string, OwnKind>>(new Map())
  const [prices, setPrices] = useState<ReadonlyMap<string, GivenPrice>>(new Map())
  const write = useConnect()
  const adding = useSending()
  const unpriced =
    checked?.models.filter((one) => ticked.has(one.id) && lacksPrice(one) && !prices.has(one.id)) ?? []
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
    setPrices(new Map())
    setTicked(
      new Set(
        answer.models.filter((one) => one.known && !isTaken(one) && one.served === null).map(({ id }) => id),
      ),
    )
  }
  const add = async (): Promise<void> => {
    const models = await write.add(fields, ticked, own, prices)
    setFields(NO_FIELDS)
    setChecked(undefined)
    onAdded(models)
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
          />
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
              {words.upstreams.add(ticked.size)}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

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

function isServer(id: string): boolean {
  return (SERVERS as readonly string[]).includes(id)
}

function isTile(id: string): boolean {
  return (TILES as readonly string[]).includes(id)
}

function named(providers: readonly Schema<'Provider'>[], wanted: (id: string) => boolean) {
  return providers.filter(({ id }) => wanted(id)).map(({ id, name }) => ({ value: id, label: name }))
}
