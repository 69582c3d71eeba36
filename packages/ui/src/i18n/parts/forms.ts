import forms from '../en/forms.json';
import { addTexts } from './add-texts.ts';

await addTexts({ forms }, () => import('../ja-forms.ts'));
