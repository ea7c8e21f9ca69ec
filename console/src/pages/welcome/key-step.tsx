/** A key with a budget. Its secret lives on this page alone. */
import { useState } from 'react'
import { useWrite } from '../../api/write.ts'
import { rememberProject } from '../../app/paying-project.ts'
import { UnpricedNote } from '../../parts/terms/unpriced-note.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Field, Form, SubmitButton, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { OnceInput } from '../../ui/once-dialog.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'

export interface MadeKey {
  readonly id: string
  readonly secret: string
}

interface KeyStepProps {
  readonly made: MadeKey | undefined
  readonly onMade: (key: MadeKey) => void
}

export function KeyStep({ made, onMade }: KeyStepProps) {
  const [project, setProject] = useState('app')
  const [name, setName] = useState('first')
  const [usd, setUsd] = useState('20')
  const [isHard, setHard] = useState(true)
  const { send } = useWrite('post', '/api/v1/keys', { touches: ['/api/v1/budgets', '/api/v1/projects'] })
  const say = words.welcome.key
  const create = async (): Promise<void> => {
    const { id, secret } = await send({
      body: { project, name, budget: { usd, per: 'month', hard: isHard } },
    })
    // Torana makes the secret, as none was given.
    if (secret !== undefined) onMade({ id, secret })
    rememberProject(project)
  }
  if (made !== undefined) return <Once secret={made.secret} />
  return (
    <Form onSubmit={create} className="flex flex-col gap-4">
      <div className="grid grid-cols-[1fr_1fr_10rem] gap-3 phone:grid-cols-1">
        <Field name="project" label={say.project}>
          <TextInput required autoComplete="off" value={project} onChange={setProject} />
        </Field>
        <Field name="name" label={say.name} hint={say.nameHint}>
          <TextInput required autoComplete="off" value={name} onChange={setName} />
        </Field>
        <Field name="budget" rule={words.ui.rules.amount} label={say.budget}>
          <TextInput
            required
            inputMode="decimal"
            pattern="\d{1,9}(\.\d{1,9})?"
            before="$"
            after={say.perMonth}
            value={usd}
            onChange={setUsd}
          />
        </Field>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Segmented
          label={say.atLimit}
          value={isHard ? 'hard' : 'soft'}
          segments={[
            { value: 'hard', label: say.hard },
            { value: 'soft', label: say.soft },
          ]}
          onChange={(next) => setHard(next === 'hard')}
        />
        <p className="min-w-60 flex-1 text-12 text-ink-3">{isHard ? say.hardHint : say.softHint}</p>
      </div>
      <UnpricedNote isHard={isHard} />
      <FormProblem />
      <SubmitButton className="self-end">{say.submit}</SubmitButton>
    </Form>
  )
}

function Once({ secret }: { readonly secret: string }) {
  const say = words.welcome.key
  return (
    <div className="flex flex-col gap-3">
      <p className="text-ink-2">{say.once}</p>
      <div className="flex gap-2">
        <OnceInput label={say.once} value={secret} />
        <CopyButton text={secret} look="primary" size="large" />
      </div>
    </div>
  )
}
