/** The last of the first steps: a request of your model with your key, its answer, and what to look at next. */
import { Send } from 'lucide-react'
import { useWrite } from '../../api/write.ts'
import { FaultError } from '../../api/faults.ts'
import { cosine, duration, moneyExact, whole } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useMay, useSession } from '../../app/session.ts'
import { Meter } from '../../charts/meter.tsx'
import { FIRST_PROMPT, FIRST_TEXTS } from '../../parts/snippets/first-call.ts'
import { DEMO, type ModelToCall } from '../../parts/snippets/model-to-call.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { failureText } from '../../ui/failure.ts'
import { TextLink } from '../../ui/link.tsx'
import { useObjectUrl } from '../../ui/object-url.ts'
import { Select } from '../../ui/select.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { cosineOf, useFirstCall, type FirstAnswer } from './first-call.ts'
import type { MadeKey } from './key-step.tsx'

interface CallStepProps {
  readonly made: MadeKey
  readonly models: readonly ModelToCall[]
  readonly model: ModelToCall
  readonly onModel: (id: string) => void
  readonly onAnswered: (model: string) => void
}

export function CallStep({ made, models, model, onModel, onAnswered }: CallStepProps) {
  const { answer, error, isRunning, send } = useFirstCall(made, model)
  const say = words.welcome.call
  const run = async (): Promise<void> => {
    if (await send()) onAnswered(model.id)
  }
  return (
    <div className="flex flex-col gap-3.5">
      <div className="flex items-center gap-2 phone:flex-wrap">
        <span className="min-w-0 flex-1 phone:basis-full">
          <Select
            label={say.model}
            value={model.id}
            options={(models.length === 0 ? [DEMO] : models).map(({ id }) => ({ value: id, label: id }))}
            onChange={onModel}
          />
        </span>
        <Button
          look={answer === undefined ? 'primary' : 'plain'}
          size="large"
          writes
          busy={isRunning}
          icon={<Send size={14} aria-hidden />}
          onClick={() => void run()}
        >
          {answer === undefined ? say.send : say.again}
        </Button>
      </div>
      <p className="text-12 text-ink-3">
        {model.kind === 'image' ? say.prompt(FIRST_PROMPT) : say.texts(FIRST_TEXTS.join(', '))}
        {model.price !== undefined && ` ${say.price(model.price)}.`}
      </p>
      {error !== undefined && <Failure error={error} model={model} onFixed={() => void run()} />}
      {answer !== undefined && <Answer answer={answer} />}
    </div>
  )
}

function Answer({ answer }: { readonly answer: FirstAnswer }) {
  const say = words.welcome.call
  const { tookMs, requestId, deployment = '', costUsd, vectors, image, model } = answer
  const cost =
    costUsd === null ? say.unpriced : Number(costUsd) === 0 ? words.upstreams.free : moneyExact(costUsd)
  const [first, ...others] = vectors
  const url = useObjectUrl(image)
  return (
    <>
      <section className="flex flex-col gap-2.5 rounded-panel border border-line px-4 py-3" role="status">
        <header className="flex items-center gap-2.5">
          <StateMark mark="good" word="" size={9} />
          <p className="flex-1 font-medium">{say.answered(duration(tookMs))}</p>
          {requestId !== undefined && (
            <TextLink to={paths.request(requestId)} className="text-12">
              {words.welcome.answers.waterfall}
            </TextLink>
          )}
        </header>
        {first !== undefined &&
          others.map((vector, index) => {
            const near = cosineOf(first, vector)
            return (
              <div key={FIRST_TEXTS[index + 1]} className="flex items-center gap-4">
                <span className="w-20 shrink-0">{`${FIRST_TEXTS[0]}, ${FIRST_TEXTS[index + 1]}`}</span>
                <span className="min-w-0 flex-1">
                  <Meter share={near} />
                </span>
                <span className="w-12 shrink-0 text-right font-medium tabular-nums">{cosine(near, 3)}</span>
              </div>
            )
          })}
        {url !== undefined && (
          <img src={url} alt={FIRST_PROMPT} className="max-h-48 self-start rounded-control object-contain" />
        )}
        <p className="text-12 text-ink-3">
          {first === undefined
            ? say.imageFacts(deployment, cost)
            : say.facts(whole(first.length), deployment, cost)}
        </p>
      </section>
      <div className="flex flex-wrap items-center justify-end gap-2">
        <ButtonLink to={paths.overview()} size="large">
          {say.toOverview}
        </ButtonLink>
        <ButtonLink to={paths.images({ mode: 'edit' })} size="large">
          {words.welcome.answers.mask}
        </ButtonLink>
        <ButtonLink
          to={paths.embeddings({ view: 'map', ...(first !== undefined && { model }) })}
          look="primary"
          size="large"
        >
          {words.welcome.answers.map}
        </ButtonLink>
      </div>
    </>
  )
}

type Remedy = keyof typeof words.welcome.call.remedies

/** What to do about each fault that a first call meets. Those left out say it in their message. */
const REMEDIES: Readonly<Record<string, Remedy>> = {
  model_unpriced: 'unpriced',
  budget_exhausted: 'budget',
  budget_reserved: 'budget',
  upstream_rejected_us: 'rejected',
  upstream_unreachable: 'unreachable',
  upstream_timeout: 'unreachable',
  upstream_failed: 'unreachable',
  no_healthy_deployment: 'unreachable',
  upstream_model_missing: 'model',
  upstream_rate_limited: 'limited',
}

interface FailureProps {
  readonly error: unknown
  readonly model: ModelToCall
  readonly onFixed: () => void
}

function Failure({ error, model, onFixed }: FailureProps) {
  const { install } = useSession()
  const say = words.welcome.call
  const fault = error instanceof FaultError ? error : undefined
  const remedy = fault === undefined ? undefined : REMEDIES[fault.code]
  return (
    <Banner tone="bad" title={say.failed(model.id)}>
      <div className="flex flex-col gap-2">
        {/* A 401 here is about the key, not about the session. */}
        <p className="break-words">{fault?.message ?? failureText(error)}</p>
        {remedy !== undefined && <p className="text-ink">{say.remedies[remedy]}</p>}
        <p className="flex flex-wrap items-center gap-x-4 gap-y-2">
          {remedy === 'unpriced' && <DeclareFree model={model} onFixed={onFixed} />}
          {remedy === 'budget' && <TextLink to={paths.budgets()}>{say.seeBudgets}</TextLink>}
          {(remedy === 'rejected' || remedy === 'unreachable' || remedy === 'model') &&
            model.deployments[0] !== undefined && (
              <TextLink to={paths.deployment(model.deployments[0])}>{say.seeDeployments}</TextLink>
            )}
          {fault?.requestId !== undefined && (
            <TextLink to={paths.request(fault.requestId)}>{words.welcome.answers.waterfall}</TextLink>
          )}
          {fault !== undefined && (
            <a
              href={`${install.gateway_url}/docs/errors/${fault.code}`}
              target="_blank"
              rel="noreferrer"
              className="link"
            >
              {say.docs(fault.code)}
            </a>
          )}
        </p>
      </div>
    </Banner>
  )
}

function DeclareFree({ model, onFixed }: Pick<FailureProps, 'model' | 'onFixed'>) {
  const may = useMay()
  const setPrice = useWrite('put', '/api/v1/prices/{deployment}', { touches: ['/api/v1/models'] })
  const say = words.welcome.call
  if (!may('prices.write')) return null
  const declare = (left: readonly string[]): void => {
    const [deployment, ...rest] = left
    if (deployment === undefined) onFixed()
    else setPrice.now({ params: { path: { deployment } }, body: { price: 'free' } }, () => declare(rest))
  }
  return (
    <>
      <Button writes busy={setPrice.busy} onClick={() => declare(model.deployments)}>
        {say.declareFree(model.id)}
      </Button>
      <TextLink to={paths.settings('prices')}>{say.setPrice}</TextLink>
    </>
  )
}
