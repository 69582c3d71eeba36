import forms from '../en/forms.json';
import { addTexts } from './add-texts.ts';

addTexts({ forms });
