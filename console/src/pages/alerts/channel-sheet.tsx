/** A new channel, or another name or address of one. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { alertQueries, type Channel, type ChannelKind } from '../../api/queries/alerts.ts'
import { useWrite } from '../../api/write.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { OnceDialog } from '../../ui/once-dialog.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { FieldError } from '../../ui/sending.ts'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { ChannelIcon } from './channel-icon.tsx'

const KINDS = ['slack', 'teams', 'pagerduty', 'email', 'webhook'] as const satisfies readonly ChannelKind[]

interface ChannelForm {
  readonly name: string
  readonly kind: ChannelKind
  readonly url: string
  readonly secret: string
  readonly routingKey: string
  readonly to: string
  /** Whether its address may be private, and plain HTTP. */
  readonly isPrivate: boolean
  readonly held: boolean
}

interface ChannelSheetProps {
  /** Undefined: a new one. */
  readonly channel?: Channel
  readonly onClose: () => void
}

export function ChannelSheet({ channel, onClose }: ChannelSheetProps) {
  const mail = useQuery(alertQueries.channels()).data?.email
  const [secret, setSecret] = useState<string>()
  const [form, setForm] = useState<ChannelForm>({
    name: channel?.name ?? '',
    kind: channel?.kind ?? 'slack',
    url: '',
    secret: '',
    routingKey: '',
    to: '',
    isPrivate: false,
    held: channel?.quiet_hours ?? true,
  })
  const create = useWrite('post', '/api/v1/alerts/channels')
  const change = useWrite('patch', '/api/v1/alerts/channels/{id}')
  const drop = useWrite('delete', '/api/v1/alerts/channels/{id}')
  const say = words.alerts.channel
  const set = (next: Partial<ChannelForm>): void => setForm({ ...form, ...next })
  const send = async (): Promise<void> => {
    // At the switch: a complaint about the address would stay until the address is changed.
    if (/^http:/i.test(form.url) && !form.isPrivate) throw new FieldError('private', say.isHttp)
    const body = { name: form.name, quiet_hours: form.held, ...targetOf(form) }
    const made =
      channel === undefined
        ? (await create.send({ body: { kind: form.kind, ...body } as Schema<'NewAlertChannelInput'> })).secret
        : null
    if (channel !== undefined) await change.send({ params: { path: { id: channel.id } }, body })
    toast((channel === undefined ? say.made : say.saved)(form.name))
    if (made === null) onClose()
    else setSecret(made)
  }
  if (secret !== undefined)
    return (
      <OnceDialog
        title={say.secretTitle(form.name)}
        description={say.secretOnce}
        value={secret}
        done={say.done}
        onClose={onClose}
      />
    )
  const isMailOff = form.kind === 'email' && mail === false
  return (
    <FormSheet
      title={channel === undefined ? say.newTitle : say.editTitle(channel.name)}
      go={channel === undefined ? say.create : say.save}
      why={isMailOff ? say.noMail : undefined}
      other={
        channel && {
          go: say.delete,
          onGo: async () => {
            await drop.send({ params: { path: { id: channel.id } } })
            toast(say.deleted(channel.name))
            onClose()
          },
        }
      }
      keepsOpen
      onSubmit={send}
      onClose={onClose}
    >
      {channel === undefined && (
        <Field name="kind" label={say.kind}>
          <Segmented
            label={say.kind}
            className="h-8 self-start"
            value={form.kind}
            segments={KINDS.map((value) => ({
              value,
              label: (
                <>
                  <ChannelIcon kind={value} /> {words.alerts.channelKinds[value]}
                </>
              ),
            }))}
            onChange={(kind) => set({ kind, held: kind !== 'pagerduty' })}
          />
        </Field>
      )}
      <Field name="name" label={say.name} hint={say.nameHint} rule={words.ui.rules.name}>
        <TextInput
          required
          autoComplete="off"
          spellCheck={false}
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,62}"
          value={form.name}
          onChange={(name) => set({ name })}
        />
      </Field>
      <TargetFields form={form} set={set} masked={channel?.masked} />
      {isMailOff && (
        <p role="status" className="rounded-control bg-warn-tint px-3 py-2 text-12 text-warn">
          {say.noMail}
        </p>
      )}
      <Field name="held" label={say.held} hint={say.heldHint}>
        <Segmented
          label={say.held}
          className="self-start"
          value={form.held ? 'held' : 'never'}
          segments={[
            { value: 'held', label: say.heldYes },
            { value: 'never', label: say.heldNo },
          ]}
          onChange={(next) => set({ held: next === 'held' })}
        />
      </Field>
    </FormSheet>
  )
}

interface TargetFieldsProps {
  readonly form: ChannelForm
  readonly set: (next: Partial<ChannelForm>) => void
  /** What the node shows of the present one, which is kept where nothing is typed. */
  readonly masked: string | undefined
}

function TargetFields({ form, set, masked }: TargetFieldsProps) {
  const say = words.alerts.channel
  const isNew = masked === undefined
  const kept = masked === undefined ? {} : { placeholder: say.keep(masked) }
  switch (form.kind) {
    case 'pagerduty':
      return (
        <Field name="routing_key" label={say.routingKey} hint={say.routingKeyHint}>
          <SecretInput
            required={isNew}
            {...kept}
            value={form.routingKey}
            onChange={(routingKey) => set({ routingKey })}
          />
        </Field>
      )
    case 'email':
      return (
        <Field name="to" label={say.to} hint={say.toHint}>
          <TextInput
            required={isNew}
            {...kept}
            inputMode="email"
            autoComplete="off"
            spellCheck={false}
            value={form.to}
            onChange={(to) => set({ to })}
          />
        </Field>
      )
    case 'slack':
    case 'teams':
    case 'webhook':
      return (
        <>
          <Field name="url" label={say.url[form.kind]} hint={say.urlHint[form.kind]}>
            <SecretInput required={isNew} {...kept} value={form.url} onChange={(url) => set({ url })} />
          </Field>
          <Field name="private" label={say.address} hint={say.privateHint}>
            <Switch label={say.private} checked={form.isPrivate} onChange={(isPrivate) => set({ isPrivate })}>
              {say.private}
            </Switch>
          </Field>
          {form.kind === 'webhook' && (
            <Field name="secret" label={say.secret} hint={say.secretHint}>
              <SecretInput {...kept} value={form.secret} onChange={(secret) => set({ secret })} />
            </Field>
          )}
        </>
      )
  }
}

/** What was typed of its address. Nothing: the present one is kept. */
function targetOf({ kind, url, secret, routingKey, to, isPrivate }: ChannelForm) {
  switch (kind) {
    case 'pagerduty':
      return routingKey === '' ? {} : { routing_key: routingKey }
    case 'email': {
      const addresses = to.split(/[,;\s]+/).filter((one) => one !== '')
      return addresses.length === 0 ? {} : { to: addresses }
    }
    case 'slack':
    case 'teams':
    case 'webhook':
      return {
        ...(url !== '' && { url, private: isPrivate }),
        ...(kind === 'webhook' && secret !== '' && { secret }),
      }
  }
}
