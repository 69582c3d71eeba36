import pasting from '../en/pasting.json';
import { addTexts } from './add-texts.ts';

await addTexts({ pasting }, () => import('../ja-forms.ts'));
