import { success } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { findFormFaults, formProperties } from './form/options.ts';

export const triggerForm = checkedNode({
  type: 'trigger.form',
  title: 'Form',
  description:
    'Starts an execution for each submission of a form that this service hosts at a public address, also as part of other websites. trigger.data has the values by the names of their fields. Files can be passed on to other nodes.',
  icon: 'clipboard-list',
  kind: 'trigger',
  properties: formProperties,
  required: ['title'],
  findFaults: findFormFaults,
  form: {
    main: ['title', 'description', 'fields'],
    sections: [
      { title: 'After submitting', fields: ['button', 'thanks', 'redirect_url'] },
      { title: 'On other websites', fields: ['allowed_origins'] },
      { title: 'Limits', fields: ['submissions_per_minute'] },
    ],
  },
  synonyms: [
    'form',
    'survey',
    'questionnaire',
    'contact',
    'submission',
    'upload',
    'typeform',
    'google forms',
    'embed',
    'iframe',
    'tally',
  ],
  examples: [
    {
      title: 'A contact form',
      config: {
        title: 'Contact us',
        fields: [
          { label: 'Your e-mail address', name: 'email', type: 'email', required: true },
          { label: 'Your message', name: 'message', type: 'paragraph', required: true },
        ],
      },
      trigger: { email: 'ada@example.com', message: 'Do you deliver on Sundays?' },
      expect: { output: { data: { email: 'ada@example.com', message: 'Do you deliver on Sundays?' } } },
    },
    {
      title: 'An application on two pages, with a file',
      config: {
        title: 'Apply for a place at the mill',
        fields: [
          { label: 'Name', name: 'name', type: 'text', required: true },
          { label: 'Shift', name: 'shift', type: 'choice', choices: ['Morning', 'Evening'], required: true },
          { label: 'Your documents', name: '', type: 'page' },
          { label: 'CV', name: 'cv', type: 'file', accept: '.pdf', required: true },
        ],
        thanks: 'We will write to you within a week.',
      },
      trigger: { name: 'Ada', shift: 'Morning', cv: null },
      expect: { output: { data: { name: 'Ada', shift: 'Morning', cv: null } } },
    },
  ],
  run: (_config, context) => success({ data: context.triggerData }),
});
