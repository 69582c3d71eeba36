import settings from '../en/settings.json';
import { addTexts } from './add-texts.ts';

addTexts({ settings });
