/** Says what became of one call, or of several. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { clockSeconds, moneyInList } from '../../app/format.ts'
import { nanoOf, sumOf, usdOf } from '../../app/money.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { useWrite } from '../../api/write.ts'
import { Field, Form, SubmitButton, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { deploymentText, type UnknownCall } from './unknown-columns.tsx'

const AMOUNT = /^\d{1,10}(\.\d{1,9})?$/
const MOST_NOTE = 500

interface ResolveCardProps {
  readonly calls: readonly UnknownCall[]
  readonly onResolved: () => void
}

export function ResolveCard({ calls, onResolved }: ResolveCardProps) {
  const may = useMay()
  const [first] = calls as readonly [UnknownCall]
  const isOne = calls.length === 1
  const reserved = sumOf(calls.map(({ reserved_usd: usd }) => usd))
  const [action, setAction] = useState<'post' | 'void'>('post')
  const [cost, setCost] = useState(isOne && first.reserved_usd !== null ? trimmed(first.reserved_usd) : '')
  const [tokens, setTokens] = useState('')
  const [note, setNote] = useState('')
  const say = words.unknowns
  const costNano = action === 'void' ? 0n : isOne && AMOUNT.test(cost) ? nanoOf(cost) : reserved
  const title = isOne
    ? `${deploymentText(first.deployment)}, ${clockSeconds(first.requested_at)}`
    : say.calls(calls.length)
  const { send } = useWrite('post', '/api/v1/unknowns/{request_id}/{attempt}', {
    touches: ['/api/v1/budgets', '/api/v1/usage', '/api/v1/requests'],
  })
  const resolve = async (): Promise<void> => {
    // One after another: each is a step of its own in the ledger, and the first that fails stops the rest.
    for (const { request_id: requestId, attempt } of calls)
      await send({
        params: { path: { request_id: requestId, attempt } },
        body: {
          action,
          note,
          ...(action === 'post' && isOne && cost !== '' && { cost_usd: cost }),
          ...(action === 'post' && isOne && tokens !== '' && { tokens: Number(tokens) }),
        },
      })
    toast(action === 'post' ? say.donePost(title, moneyInList(usdOf(costNano))) : say.doneVoid(title))
    onResolved()
  }
  return (
    <section className="rounded-panel border border-line p-[18px]">
      <header className="flex items-center justify-between gap-3">
        <h2 className="truncate text-13 font-semibold">{title}</h2>
        {isOne && (
          <TextLink to={paths.request(first.request_id)} className="shrink-0 whitespace-nowrap">
            {say.request}
          </TextLink>
        )}
      </header>
      <Form className="flex flex-col gap-3.5 pt-3" onSubmit={resolve}>
        <Segmented
          label={title}
          segments={[
            { value: 'post', label: isOne ? say.charged : say.chargedAll },
            { value: 'void', label: isOne ? say.notCharged : say.notChargedAll },
          ]}
          value={action}
          onChange={setAction}
          className="w-full *:flex-1 *:justify-center"
        />
        {action === 'post' && (
          <div className="grid grid-cols-2 gap-3">
            <Field
              name="cost_usd"
              rule={words.ui.rules.amount}
              label={say.cost}
              hint={isOne ? say.reservedHint(moneyInList(first.reserved_usd)) : say.eachReserved}
            >
              <TextInput
                before="$"
                inputMode="decimal"
                pattern="\d{1,10}(\.\d{1,9})?"
                value={cost}
                disabled={!isOne}
                onChange={setCost}
              />
            </Field>
            <Field name="tokens" rule={words.ui.rules.wholeNumber} label={say.tokens}>
              <TextInput
                inputMode="numeric"
                pattern="\d{0,15}"
                placeholder={say.tokensHint}
                value={tokens}
                disabled={!isOne}
                onChange={setTokens}
              />
            </Field>
          </div>
        )}
        <Field name="note" label={say.why} hint={say.whyHint}>
          <TextInput
            required
            maxLength={MOST_NOTE}
            placeholder={say.notePlaceholder}
            value={note}
            onChange={setNote}
          />
        </Field>
        <FormProblem />
        <footer className="flex items-center justify-between gap-3 pt-1">
          <Moves calls={calls} backNano={reserved - costNano} />
          <SubmitButton
            why={may('unknowns.resolve', isOne ? first.project : undefined) ? undefined : say.forbidden}
          >
            {action === 'post'
              ? say.postButton(moneyInList(usdOf(costNano)))
              : say.voidButton(moneyInList(usdOf(reserved)))}
          </SubmitButton>
        </footer>
      </Form>
    </section>
  )
}

/** What moves in the ledger: the difference to what was reserved. */
function Moves({ calls, backNano }: { readonly calls: readonly UnknownCall[]; readonly backNano: bigint }) {
  const projects = [...new Set(calls.map(({ project }) => project))]
  const [only] = projects
  const { data } = useInfiniteQuery({
    ...moneyQueries.budgets(undefined, only),
    enabled: projects.length === 1,
  })
  const say = words.unknowns
  const keys = new Set(calls.map(({ key_id: key }) => key))
  const budget = data?.pages
    .flatMap((page) => page.data)
    .find(({ scope, name }) => (scope === 'project' ? name === only : keys.has(name)))
  const usd = moneyInList(usdOf(backNano < 0n ? -backNano : backNano))
  const text =
    backNano === 0n
      ? say.same
      : backNano < 0n
        ? say.more(usd)
        : budget === undefined
          ? say.comesBack(usd)
          : say.comesBackTo(budget.name, usd)
  return <span className="text-12 text-ink-2">{text}</span>
}

function trimmed(usd: string): string {
  return usd.replace(/(\.\d\d\d*?)0+$/, '$1')
}
