import { Suspense } from 'react'
import { paths } from '../../app/paths.ts'
import { NotFound } from '../../app/problems.tsx'
import { useMay } from '../../app/session.ts'
import { Empty } from '../../ui/empty.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { words } from '../../words/words.ts'
import { settings as place } from './place.ts'
import { SECTIONS } from './sections.ts'

export function SettingsPage() {
  const { section: id } = place.useParams()
  const may = useMay()
  const section = SECTIONS.find((one) => one.id === id)
  if (section === undefined) return <NotFound />
  const { Content } = section
  const { sections, forbidden } = words.settings
  const allowed = SECTIONS.filter((one) => !('permission' in one) || may(one.permission))
  return (
    <Page title={words.places.settings}>
      <Tabs
        label={words.places.settings}
        value={section.id}
        tabs={allowed.map((one) => ({ value: one.id, label: sections[one.id], to: paths.settings(one.id) }))}
        className="px-6 pt-1 phone:px-4"
      />
      {allowed.includes(section) ? (
        <Suspense fallback={<LoadingRows />}>
          <Content />
        </Suspense>
      ) : (
        <Empty title={forbidden(sections[section.id])} />
      )}
    </Page>
  )
}
