import polling from '../en/polling.json';
import { addTexts } from './add-texts.ts';

await addTexts({ polling }, () => import('../ja-forms.ts'));
