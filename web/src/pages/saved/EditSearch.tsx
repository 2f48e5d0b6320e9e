import { Alert, Button, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Schemas, unwrap } from '../../api/client'
import { useAct } from '../../lib/act'
import { type Field, fields, keptOf, searchOf } from '../../lib/news'
import { countsQuery } from '../../lib/newsQueries'
import { errorText } from '../../lib/notify'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Edits a saved search. */
export function EditSearch({ search: n, close }: { search: Schemas['SavedSearch']; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = `search ${n.id}`
  const [name, setName] = useFormState(form, 'name', n.name)
  const [wanted, setWanted] = useFormState(form, 'wanted', () => searchOf(n))
  const known = useQuery(countsQuery({}))
  const values = (f: Field) =>
    (known.data?.facets?.find((x) => x.field === f)?.values ?? []).map((v) => v.value).filter((v) => v !== '')
  const edit = useAct({
    send: () =>
      unwrap(
        api.PATCH('/api/v1/saved-searches/{id}', {
          params: { path: { id: n.id }, header: ifMatchHeader(n.version) },
          body: { name, mode: n.mode, ...keptOf(wanted) },
        }),
      ),
    accepted: () => {
      forget(form)
      close()
    },
    settled: () => void client.invalidateQueries({ queryKey: ['saved-searches'] }),
    done: () => t('saved.changed'),
    failed: false,
  })
  return (
    <FormDialog form={form} opened onClose={close} title={t('saved.edit')}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          edit.mutate()
        }}
      >
        <Stack>
          <TextInput
            label={t('search.name')}
            required
            maxLength={200}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            data-autofocus
          />
          <TextInput
            label={t('search.words')}
            description={t('search.wordsText')}
            maxLength={500}
            value={wanted.q ?? ''}
            onChange={(e) => {
              const q = e.currentTarget.value
              setWanted((w) => ({ ...w, q }))
            }}
          />
          {fields.map((f) => (
            <TagsInput
              key={f}
              label={t(`search.fields.${f}`)}
              description={f === 'domain' ? t('saved.fieldsText') : undefined}
              data={values(f)}
              splitChars={[]}
              maxTags={50}
              value={wanted[f] ?? []}
              onChange={(v) => setWanted((w) => ({ ...w, [f]: v }))}
            />
          ))}
          {edit.error && (
            <Alert color="red" role="alert">
              {errorText(edit.error)}
            </Alert>
          )}
          <Button type="submit" loading={edit.isPending}>
            {t('save')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}
