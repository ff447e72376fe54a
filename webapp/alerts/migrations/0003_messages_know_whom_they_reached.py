from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('alerts', '0002_channels_have_names'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='reached',
            field=models.JSONField(default=list),
        ),
    ]
