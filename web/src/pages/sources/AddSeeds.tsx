import { Alert, Button, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, type Schemas, unwrap } from '../../api/client'
import { problemText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { errorText } from '../../lib/notify'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Adds seeds: one URL, or a list or OPML file of them. */
export function AddSeeds({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = 'seeds'
  const [way, setWay] = useFormState<'one' | 'many'>(form, 'way', 'one')
  const [url, setURL] = useFormState(form, 'url', '')
  const [title, setTitle] = useFormState(form, 'title', '')
  const [text, setText] = useFormState(form, 'text', '')
  const add = useAct({
    send: async (): Promise<Schemas['SeedImportResult'] | undefined> => {
      if (way === 'many')
        return unwrap(
          api.POST('/api/v1/seeds/import', {
            body: { format: text.trimStart().startsWith('<') ? 'opml' : 'list', text },
          }),
        )
      await unwrap(
        api.POST('/api/v1/seeds', {
          params: { header: idempotencyHeader() },
          body: { url, ...(title ? { title } : {}) },
        }),
      )
      return undefined
    },
    accepted: (result) => {
      forget(form)
      void client.invalidateQueries({ queryKey: ['seeds'] })
      void client.invalidateQueries({ queryKey: ['domains'] })
      if (result && result.invalid > 0) return
      close()
    },
    done: (result) =>
      !result
        ? t('news.added')
        : result.invalid > 0
          ? undefined // the form lists what was refused
          : t('news.imported', { created: result.created, existing: result.existing }),
    failed: false,
  })
  return (
    <FormDialog form={form} opened onClose={close} title={t('news.add')}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          add.mutate()
        }}
      >
        <Stack>
          <SegmentedControl
            aria-label={t('news.way')}
            value={way}
            onChange={(v) => setWay(v as typeof way)}
            data={(['one', 'many'] as const).map((value) => ({ value, label: t(`news.ways.${value}`) }))}
          />
          {way === 'one' ? (
            <>
              <TextInput
                label={t('news.address')}
                description={t('news.addressText')}
                type="url"
                required
                placeholder="https://news.example/"
                value={url}
                onChange={(e) => setURL(e.currentTarget.value)}
                data-autofocus
              />
              <TextInput
                label={t('news.name')}
                maxLength={300}
                value={title}
                onChange={(e) => setTitle(e.currentTarget.value)}
              />
            </>
          ) : (
            <Textarea
              label={t('news.list')}
              description={t('news.listText')}
              required
              autosize
              minRows={6}
              maxRows={14}
              value={text}
              onChange={(e) => setText(e.currentTarget.value)}
            />
          )}
          {add.error && (
            <Alert color="red" role="alert">
              {errorText(add.error)}
            </Alert>
          )}
          {add.data && add.data.invalid > 0 && (
            <Alert color="yellow" role="alert" title={t('news.refused', { count: add.data.invalid })}>
              {add.data.lines
                .filter((l) => l.outcome === 'invalid')
                .slice(0, 10)
                .map((l) => (
                  <Text key={l.line} size="sm" className="dl-text">
                    {l.line}: {l.url} – {l.problem && problemText(l.problem)}
                  </Text>
                ))}
            </Alert>
          )}
          <Button type="submit" loading={add.isPending}>
            {t('news.add')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}
