import { NumberInput, Select, Switch } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Definition } from './definition'

type Trigger = Definition['trigger']

/** Whether a rule selects new articles, or those that are being read. */
export function ViewFields({ trigger, set }: { trigger: Trigger; set: (trigger: Trigger) => void }) {
  const { t } = useTranslation()
  const { trending, evergreen } = trigger
  const select = (kind: string) =>
    set({
      ...trigger,
      trending: kind === 'trending' ? { min_views: 500, hours: 2 } : undefined,
      evergreen: kind === 'evergreen' ? { min_views: 200, days: 7, min_age_days: 30, repeat_days: 30 } : undefined,
    })
  return (
    <>
      <Select
        label={t('rules.select')}
        allowDeselect={false}
        data={[
          { value: 'new', label: t('rules.selectNew') },
          { value: 'trending', label: t('rules.selectTrending') },
          { value: 'evergreen', label: t('rules.selectEvergreen') },
        ]}
        value={trending ? 'trending' : evergreen ? 'evergreen' : 'new'}
        onChange={(kind) => kind && select(kind)}
      />
      <Switch
        label={t('rules.ownSites')}
        mt="lg"
        checked={!!trending || !!evergreen || !!trigger.own_sites}
        disabled={!!trending || !!evergreen}
        onChange={(e) => set({ ...trigger, own_sites: e.currentTarget.checked || undefined })}
      />
      {trending && (
        <>
          <NumberInput
            label={t('rules.minViews')}
            required
            min={1}
            value={trending.min_views}
            onChange={(v) => set({ ...trigger, trending: { ...trending, min_views: Number(v) } })}
          />
          <NumberInput
            label={t('rules.inHours')}
            required
            min={1}
            max={48}
            value={trending.hours}
            onChange={(v) => set({ ...trigger, trending: { ...trending, hours: Number(v) } })}
          />
        </>
      )}
      {evergreen && (
        <>
          <NumberInput
            label={t('rules.minViews')}
            required
            min={1}
            value={evergreen.min_views}
            onChange={(v) => set({ ...trigger, evergreen: { ...evergreen, min_views: Number(v) } })}
          />
          <NumberInput
            label={t('rules.inDays')}
            required
            min={1}
            max={30}
            value={evergreen.days}
            onChange={(v) => set({ ...trigger, evergreen: { ...evergreen, days: Number(v) } })}
          />
          <NumberInput
            label={t('rules.minAgeDays')}
            required
            min={1}
            max={3650}
            value={evergreen.min_age_days}
            onChange={(v) => set({ ...trigger, evergreen: { ...evergreen, min_age_days: Number(v) } })}
          />
          <NumberInput
            label={t('rules.repeatDays')}
            required
            min={1}
            max={3650}
            value={evergreen.repeat_days}
            onChange={(v) => set({ ...trigger, evergreen: { ...evergreen, repeat_days: Number(v) } })}
          />
        </>
      )}
    </>
  )
}
