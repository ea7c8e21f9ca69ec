import { useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import { paths, SETTINGS_SECTIONS, type SettingsSection } from '../../app/paths.ts'
import { NotFound } from '../../app/problems.tsx'
import { useMay } from '../../app/session.ts'
import { Empty } from '../../ui/empty.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { words } from '../../words/words.ts'
import { sectionNamed } from './sections.tsx'

export function SettingsPage() {
  const { section: name = 'general' } = useParams({ strict: false }) as { section?: SettingsSection }
  const may = useMay()
  const section = sectionNamed(name)
  if (section === undefined) return <NotFound />
  const { permission, Content } = section
  const { sections, title, forbidden } = words.settings
  const mayOpen = (one: SettingsSection): boolean => {
    const needed = sectionNamed(one)?.permission
    return needed === undefined || may(needed)
  }
  return (
    <Page title={title}>
      <Tabs
        label={title}
        value={name}
        tabs={SETTINGS_SECTIONS.filter(mayOpen).map((one) => ({
          value: one,
          label: sections[one],
          to: paths.settings(one),
        }))}
        className="px-6 pt-1 phone:px-4"
      />
      {permission === undefined || may(permission) ? (
        <Suspense fallback={<LoadingRows />}>
          <Content />
        </Suspense>
      ) : (
        <Empty title={forbidden(sections[name])} />
      )}
    </Page>
  )
}
