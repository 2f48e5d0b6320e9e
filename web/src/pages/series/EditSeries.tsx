import { Alert, Button, Group, Stack } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Schemas, unwrap } from '../../api/client'
import { RuleBuilder } from '../../components/RuleBuilder'
import { WhenField } from '../../components/WhenField'
import { ZoneSelect } from '../../components/ZoneSelect'
import { parseRule, formatRule } from '../../lib/rule'
import { errorText } from '../../lib/notify'
import type { Part } from '../compose/draft'
import { Parts } from '../compose/Parts'
import { useSeriesChange } from './useSeriesChange'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Edits the content and the rule of a series. Versions for single accounts stay unchanged. */
export function EditSeries({ series: s, close }: { series: Schemas['Series']; close: () => void }) {
  const { t } = useTranslation()
  const change = useSeriesChange()
  const form = `series ${s.id}`
  const [parts, setParts] = useFormState<Part[]>(form, 'parts', () => [
    { content: s.template.content, attachments: s.template.attachments ?? [] },
    ...(s.template.thread ?? []).map((p) => ({ content: p.content, attachments: p.attachments ?? [] })),
  ])
  const [starts, setStarts] = useFormState(form, 'starts', s.starts.slice(0, 16))
  const [zone, setZone] = useFormState(form, 'zone', s.time_zone)
  const known = parseRule(s.rule)
  const [rule, setRule] = useFormState(form, 'rule', known)
  const save = () => {
    const [first, ...thread] = parts
    const template: Schemas['SeriesTemplate'] = {
      ...s.template,
      content: first?.content ?? '',
      attachments: first?.attachments ?? [],
      thread,
    }
    const body = { template, time_zone: zone, starts, ...(rule ? { rule: formatRule(rule) } : {}) }
    change.mutate(
      {
        send: () =>
          unwrap(
            api.PATCH('/api/v1/series/{id}', {
              params: { path: { id: s.id }, header: ifMatchHeader(s.version) },
              body,
            }),
          ),
        done: t('series.saved'),
      },
      {
        onSuccess: () => {
          forget(form)
          close()
        },
      },
    )
  }
  return (
    <FormDialog form={form} opened onClose={close} size="xl" title={t('series.edit')}>
      <Stack>
        <Parts label={t('compose.text')} value={parts} change={setParts} counts={[]} />
        <Group align="flex-end" gap="sm" className="dl-form">
          <WhenField label={t('repeat.starts')} required value={starts} zone={zone} onChange={setStarts} />
          <ZoneSelect value={zone} onChange={setZone} />
        </Group>
        {rule && <RuleBuilder value={rule} onChange={setRule} starts={starts} zone={zone} />}
        {change.isError && (
          <Alert color="red" role="alert">
            {errorText(change.error)}
          </Alert>
        )}
        <Alert color="gray">{t('series.editText')}</Alert>
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button loading={change.isPending} disabled={starts === ''} onClick={save}>
            {t('save')}
          </Button>
        </Group>
      </Stack>
    </FormDialog>
  )
}
